# cmake -DPROTOC= -DFOLDER= -DPROTO= -DMESSAGE= -DTEXT= -DBINARY= -P encode.cmake: a message as text in binary form.
execute_process(COMMAND ${PROTOC} --proto_path=${FOLDER} --encode=${MESSAGE} ${PROTO}
  INPUT_FILE ${TEXT} OUTPUT_FILE ${BINARY} COMMAND_ERROR_IS_FATAL ANY)

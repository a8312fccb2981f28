pw_add_bench(NAME bench_simulator SOURCES bench_simulator.cpp DEPENDS pw_sim)
pw_add_bench(NAME bench_grouping SOURCES bench_grouping.cpp DEPENDS pw_zoo pw_devices)

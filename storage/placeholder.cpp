namespace pw {}

package meta_test

var stateCases = []testCase{}

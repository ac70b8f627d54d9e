package meta_test

var modelCases = []testCase{}

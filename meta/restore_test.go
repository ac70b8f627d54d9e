package meta_test

var restoreCases = []testCase{}

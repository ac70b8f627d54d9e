package meta_test

var feedCases = []testCase{}

package meta_test

var topicCases = []testCase{}

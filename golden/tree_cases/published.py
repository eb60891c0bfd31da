"""Answers with BLAKE3 that other implementations of the specification gave: of tree0, and of bag0.

They are facts from outside, kept apart from the cases so that no generator can move them.
"""

PUBLISHED = {
    "no_columns": (
        "d1d6d153f1c2446582cfda0034271c375a6f56d9c66f114c1dfde9582800e83e",
        "30f3bafbdbfbea1d167b1c6a0286c313dc5c9f10a3455bc31512c9228b42d27a",
    ),
    "no_rows": (
        "329c11694af30de9c7a9a30f9b1c3f593618532532e2e672a4debc10735f7569",
        "a04d534c08aab218da04512a73a1e05213e098aba456947edcf54a660af525ef",
    ),
    "int32": (
        "9820a74301d51fe15d29752d88cbb8c026124ebc6c379cac2ba74bccd101d124",
        "e3ef5a1184febc21eb21a6e98a09a39849afffaff66c6f19c335b72558f415e6",
    ),
    "int32_null": (
        "0a4261928e463e0c6f25598b34487ab4f65d7c194b32120e835e1f90699fef09",
        "edae7b74359bcc2479f98290de8f15e0be7f8c0636b9bd7cc851b1018667273b",
    ),
    "nulls_first": (
        "59c6bdc92fc0949487b0360ef30c4723999a37e52c83b4c1184cb41fe69a5069",
        "9bc6e4e3d9e1dd5e1cb1af79cdc8c0daba130075bea572677817fed851e9e374",
    ),
    "nulls_last": (
        "a1ab41c7bb48ebcb62f996ea0bac00516ce17bb89864090b79e917139be0bb92",
        "fad1e602e9fd1513258f335d0a35e7a0eb42a1d71dd932cc00217129bbc5f62b",
    ),
    "only_nulls": (
        "0c43c2d3b8c3741f7a909d87ee1ef7429abc1508ce5592fc8445ecadfa72ee04",
        "2b3212aa21267e1ee059a8b650dc660fbc50b5f15e063651bf28f2e3d5c799eb",
    ),
    "null_type": (
        "126859717283b0add4e711c8e2c700f3cbb96e8d13222de2491b2285c67e8baa",
        "e98ae7847a9a32cd1413fbdbec97051d1086e3a16d994e957c73b11a676abf8b",
    ),
    "uint8": (
        "b38faeec3b720f87d8eaccae4a826f0b7393b9f958dada86fb93196667b31acd",
        "ac160abe3a063cf66327a9486ec5118b531fef8de7525ac56bf711566ceb1b95",
    ),
    "uint16": (
        "da6639ef6e270857d8bb25920383d2996770f8569dfd66f2a0d00b7b0e715dc0",
        "cdb503a6ebdec83ffc80674ff096f7b1fd028eca25aca7a04bc5cae5153e1c32",
    ),
    "uint64": (
        "ef3b266a89ca69d76e95aa7bd990e4c6666295032f0764f7f2a7538aea917a9b",
        "431f5f22f22fafc65b9a852e78fec57419cc5ca360ccd85b6d8c8e58b402dd53",
    ),
    "float16": (
        "8505531cb11fc009015009e8bf7f4d5811bbcb2413db40369c32f650fba4ffa5",
        "2a7857c9bf2516882878e3118cb1bfc333cf32bcbe8209d596329ee2a420db09",
    ),
    "float32": (
        "64715a0d8c44f4bd014b96d30ff5b3e607bb09c4e47b07e79c8204a03f280edf",
        "b6f66ee793308af3dcbf5e2ca86c9c93b26a2520ea039ba0f58e97928a0e0250",
    ),
    "float64": (
        "d074848dde8719dfa00b7d5c96739b614ae52cc7720fdaba0f547d320ca53cff",
        "151bd644620a77a133f7446f17be248277617ed295f3113a4c02c0cbce6ce873",
    ),
    "bool": (
        "e039b1380d2868bf6f73bb5fc508dd0bae59c272e85ac89d217462109f591ca0",
        "1ba743b5a78c8b795e3c6080da0a6fa1053453d57946ce5fceee0c5d2f99447a",
    ),
    "bool_null": (
        "dcac9a28e93b82b619ac7b34e82511e4d944304ff6fac8f58bd2ca0f8423b802",
        "203b237e63d77c786cbcf8302cfa14ba0ada9d41ed3a48a05826f5e9bfcd6833",
    ),
    "string": (
        "64c17e311c9fe79e24f8f642fc460adc82ef3cd6cc8393f322c96113d5c7b863",
        "ab13170d1c1106926f3dd350ce711996220b3e3e59a3f27cbabb64afa9abf0a2",
    ),
    "string_view": (
        "64c17e311c9fe79e24f8f642fc460adc82ef3cd6cc8393f322c96113d5c7b863",
        "ab13170d1c1106926f3dd350ce711996220b3e3e59a3f27cbabb64afa9abf0a2",
    ),
    "dictionary": (
        "64c17e311c9fe79e24f8f642fc460adc82ef3cd6cc8393f322c96113d5c7b863",
        "ab13170d1c1106926f3dd350ce711996220b3e3e59a3f27cbabb64afa9abf0a2",
    ),
    "binary": (
        "7ac6c6a3967626425140a0b48d6120aea78b9e3ef1428abf829adcb97dbed68c",
        "dc5dbf8b826cbb68af143c3ad8622305291300ad95076d540299b88fc8548702",
    ),
    "fixed_size_binary": (
        "cfacaab60338b0c7ff04eba000440b66efa814a51f0e2f406db968b2bdd32982",
        "7a9371df58407d22df41ff152c703b1d11763fc6d0bbae588651b9e16ed877a9",
    ),
    "decimal32": (
        "4424dcc5ce80924afeb451b3f8b4559821617a4f8a7ab682afeaf765f61e0636",
        "7ff70518d70427ce596cc4a7081bf8641ef7a40fcfd6aaf72bb70494d12ebcf8",
    ),
    "decimal64": (
        "4424dcc5ce80924afeb451b3f8b4559821617a4f8a7ab682afeaf765f61e0636",
        "7ff70518d70427ce596cc4a7081bf8641ef7a40fcfd6aaf72bb70494d12ebcf8",
    ),
    "decimal128": (
        "4424dcc5ce80924afeb451b3f8b4559821617a4f8a7ab682afeaf765f61e0636",
        "7ff70518d70427ce596cc4a7081bf8641ef7a40fcfd6aaf72bb70494d12ebcf8",
    ),
    "decimal256": (
        "4424dcc5ce80924afeb451b3f8b4559821617a4f8a7ab682afeaf765f61e0636",
        "7ff70518d70427ce596cc4a7081bf8641ef7a40fcfd6aaf72bb70494d12ebcf8",
    ),
    "decimal256_wide": (
        "288aa7ae0dbef6a2ac28c5a4c3c1fd0c924a9c4efed363d3d0443334183fd516",
        "ca421ef8a043ee68360265c66237947ba99d8481dff3fc65532c3741ca6e51e8",
    ),
    "decimal_negative_scale": (
        "17191881caf925bb40b8a477e194f0645b44c5c5b0bfd66f34c930077adbcdad",
        "70996712d37799ecd75f96037299e869aaa2b199c71ac3735d86a5d0a2b5a9e9",
    ),
    "dates_times": (
        "630643206436fe983855d708717bc5fd20f5da12dff788128cc5755365799bfc",
        "da3f719f83803f409b4bda2dac663bd99b4ae99be08c1e015e82963da1e16e26",
    ),
    "timestamps": (
        "fc4266d1343ab0a75d7d0a7030eeea63f8ab1192c1486deddd550c80d8b8ecaa",
        "352139d490cd713ab9edc4a327adeae4bd55fe4081df60c091bc6016fcd23396",
    ),
    "durations": (
        "2ff96f48b16d6e5c255b4321feaf39fa75d870eda6bc024614d1439291cd9a7a",
        "56556e10ac47b306a3ca6c9f23768cca93870cb6a25d36c8724480c477bd1488",
    ),
    "month_day_nano": (
        "574bf815516f1102a5fe0f6c98a2b8bbfe65fa4668da33e9a5db892fa75120d0",
        "90ccb72bca8bf77b480f384686ebfee8887ec5d208f0d9426e8812b50a884c3e",
    ),
    "list": (
        "aec3907c2a7ea8c6ff83dbd79bcd73560dccda130a1103b65b3582c9137df24c",
        "9eb9632b5f88690ade71bb4d246ed1f3a622a676e9486765ae4b76b6219795b6",
    ),
    "fixed_size_list": (
        "30afba55b30a8e96ea3d0574a6921d4367002ce3654fa46dc72c7025bc051a48",
        "faa10a8c5e8d6b3c921d706eb968e5862ff1817c40974a123d63b7540ba477aa",
    ),
    "list_view": (
        "7a06e806aa6bac9fc10d89b6637b6da6d9b0b949d3155320b84495771f62ff7c",
        "e8fb12aad47f258fac6052addaad269f369838a554fc803dcb560cbece24b504",
    ),
    "list_of_list": (
        "77be87206c880ecad4b3b8d58687f88a6cf29c8dcd15bd3d010943625ff5b5bd",
        "3cc876bb2f96dfb9d2e605a290275f37be83d02378ba4ce7940778de0bd82c96",
    ),
    "struct": (
        "1be97a92d29746333f2a1df8e6f2ba6a7822035ceea1ebb4777f8736657c599f",
        "1fd096a1d438bb4793946be4920c5e49bb655ebb052ed5b7bc7952a6a1405e80",
    ),
    "struct_garbage": (
        "1be97a92d29746333f2a1df8e6f2ba6a7822035ceea1ebb4777f8736657c599f",
        "1fd096a1d438bb4793946be4920c5e49bb655ebb052ed5b7bc7952a6a1405e80",
    ),
    "struct_empty": (
        "b252ff83e7fe7dfea8d47a32f0fd6a6f0e0f440ac4448c4bce3890401115b5a3",
        "9c8f51773d5e6e1a21a6c7a4ae837c4a384a62150d6824e96d37ec3d2e6b777f",
    ),
    "struct_deep": (
        "a23063c5a2a7e213552725dc61407a3266cbea2d159f8620c08dbb57cb253d15",
        "90fd803549839aef3c0debd340ecaddb2ec436f1455eb9ecbf97c3c73e3f138e",
    ),
    "list_of_struct": (
        "7c0e89283dad17806f3bcfe6c00b7770fc92503590658a82ec16530c9f4a0aaa",
        "f0a9ad07d1f8fed6276d7a53c9dd9f71da2b813fc351a1129aaec7b458c90d7c",
    ),
    "map": (
        "f1af27f0602144d2d823054102070da2cb46186b94896de7e5a7314a7aad81c3",
        "81739298a78cfce172498036678bfa33516f9a6fe5b29792c5282304a133403e",
    ),
    "union_sparse": (
        "035ba728b7bf657af8afb294c99d772e6d8b0305dd47e2bcc176eb1e7dfe79c1",
        "22cbea3ba0639ee181aed4d0091c15f9506f9eb0d924d9a4f8b63e96693d3504",
    ),
    "union_dense": (
        "035ba728b7bf657af8afb294c99d772e6d8b0305dd47e2bcc176eb1e7dfe79c1",
        "22cbea3ba0639ee181aed4d0091c15f9506f9eb0d924d9a4f8b63e96693d3504",
    ),
    "run_end": (
        "7b9a19adf937a0934099a8d1a9ca5881eaf34ac6fd7feaacb96da6cb2fdae6ca",
        "3178e75f19a655065f1dac078397af54be67aa721f1df42f9b06da659d02907d",
    ),
    "names": (
        "119585bea262eba0b10c069180a5451af02a9b0879dcbf16a35b3a1bfde2ab32",
        "a060f684174ad56d1e334e3f252e3bfe1aa2bd7b5767b0702426163d7d96fc02",
    ),
    "two_columns": (
        "a76e59e7e6cd97f66c35e5782d280cbbaa17f6ebb47cb7eb8c0ce90bc6099a40",
        "826d7f957c6ec071ab927255c1dc82827a48122f81ebf470a05b2b403370cbd6",
    ),
    "two_columns_swapped": (
        "123f8c6469a79baf40d5dea351afa7275bbbd59fce578a139e59240cc4905b7b",
        "d72b70c0ef5f992cbf46017a817859c9d0ea57c8cbfc4ba8869529adb9a737bf",
    ),
    "rows_swapped": (
        "f9876627e09b2941a1ea0ce073ddc0f3e4e98ce8e5863d1542f006bc34f59109",
        "826d7f957c6ec071ab927255c1dc82827a48122f81ebf470a05b2b403370cbd6",
    ),
    "duplicates": (
        "e30092c0cedb38ce4c1417c75d0fd2349d074722cf89ea5a795fdbf1c4b3e271",
        "59018fef0cb16955d31aa82fc3872fdae97c22f31bded00016c3d2866fea0358",
    ),
    "chunks_16383": (
        "b4c7843a8d7f497696375a9d1671ae23ea83bd9e9b6769ca685fc8daf0597bde",
        "841b55d186995ab21e50aff173591f50952b919799d76203aae1c1d772320cad",
    ),
    "chunks_16384": (
        "d1047cd6e4d69ad97383c2db95d2d359b381e8bf4c9f77ebccc50cd503d7c847",
        "abc262eb398e84c398e97c2c3067a4a01f1eb5401e9f061772538cc472faa7f9",
    ),
    "chunks_16385": (
        "130ec7ef2011dd9ee1d76aa85f6aacc93e308804d3e6ab557afbe59e49f781e7",
        "4222030bb253ebd3a9fee06baf08fb3c2a9ae4c7e7148fa927878bbccaac9724",
    ),
    "chunks_32768": (
        "3d99a634c6b8eada19c789ece1efcb301a53f723b00a2cbfa213ef1a845ea5d2",
        "471aeb9bbb007eae0699c1ad73e499f186d3ab017c38c256711e333bf864a294",
    ),
    "chunks_32769": (
        "885a672c09aea4c809e17058e3b9a2b80204bc122d90ad638ac04471f7cdfda0",
        "d1995d8387405e870a5b2c879fbd97e87b0a135844fcd48c70fae82a41a371b9",
    ),
    "chunks_49153": (
        "a8604fdcc14d48e0a821da1e25a61c3908b692226fb88359db713322a53ef0a0",
        "0671227d7144f831d1359967d881241e2db471507815fe7de5cbe70cfd47c90f",
    ),
    "chunks_81921": (
        "4f3fa0df5e0331d6272212fb2b84a29a8d0722f9fc958b621223927b816c5493",
        "4c82f85d9e39a1002aac7b4a1f4430e510e9c90f35b0ac48bbf4b4cc443d65fe",
    ),
    "chunk_nulls": (
        "70708d53888c4d0a88acda09574ed145f4ebbd45d24ab38d0d784502eb87ff74",
        "4f249815a359bf3e54fe6e8bf9748684eb808254118596946954c7ee47907f38",
    ),
    "chunk_nested": (
        "7a18cc563d42bf3c5f8d992ad8a6bfd8a0fd66e4439a16242a6635d4081a5017",
        "1706d77e2ad0d42e58da23f3aed2ec9ab2a62a15c4e59ae20417b17c0230e8da",
    ),
    "two_batches": (
        "f1dd313b8d69a892c5341f2b81f3dff28de492b24400409dd7654c3da34df5bf",
        "78c64251491ef65f548f6400fc00c9f97035d7fc9db58567819ca59c44c39601",
    ),
    "one_batch": (
        "f1dd313b8d69a892c5341f2b81f3dff28de492b24400409dd7654c3da34df5bf",
        "78c64251491ef65f548f6400fc00c9f97035d7fc9db58567819ca59c44c39601",
    ),
    "rows_without_columns": (
        "b4cc605a7687c10ffc3008cab2dc199df90a8dcdcab2238abbbf27ebdc868d65",
        "af50b6271d0ca11dc1e1dc03f4a5a67c455033dc368516c27cdb07dcbcbcd31c",
    ),
    "list_of_union": (
        "d2a5297ba70a06ddf53490a0b5b66507bbcd5bc93e8a8d23a7443dea7585de71",
        "46dd6dbb5568f36a4e780ebdf91888ae12c7f9d245db7841aa0cf0d267d774d5",
    ),
    "union_null": (
        "d5e0f25a0635f7a22e67876d2a05cee869a665b7fd435a618e03d8cd0711da77",
        "0d158571a91949830e17d0724156c0aa2190288bdbf29b0a615e575f8f65f569",
    ),
    "list_of_null": (
        "15ad4997c5f881eef889249179936d5f8484c21ec71d37bbf09f716deaad82aa",
        "0e15c5a0d1c8ff2139e395326f1c30e68a5b0dfed4663c99751a672718d3989a",
    ),
    "lists_of_size_0": (
        "aae4f0c8cf2ad790734111f768130e5b90bc1db7e889f2488e363c60e273a29e",
        "59debbaba9c2e686fa9a00e9a47e23c01b9e69615b0b084d1599955b6e13ddbd",
    ),
    "list_of_runs": (
        "e4f3e282d7f31d821d675457dad58cd1dad9a2e8cd480b133f1bcdf9b784d661",
        "74051c090c64ba347ff8b147671953481153cda941e721efca2d95c96417dc84",
    ),
    "bag_1024": (
        "b24a38771301b899b4b04d6eaae536e0a3fbfe32253acc4dc8833efaad6ce1fe",
        "913f077da0af9397fa2f1e2d69c787ef143065def3cbb3b4c8614e92db683ca7",
    ),
    "bag_1025": (
        "e53e0b8d4d6635a88f234194fd064cc2b490873beb2cdc971dc046501598eb46",
        "5fda869255cd593ed1a768687acd924ca7a0eb745829990dd362bf9ab02d5f29",
    ),
    "bag_5000": (
        "87a7b1ba24c444a0f9389807107cea1d9807d2c4f173194af575a23c7a47a0b2",
        "ba5f7bad78bf7f6bcae7b7c1975d9182da5829fef21da08dcd20ba539e20c96b",
    ),
    "bag_counts": (
        "1df46e2e57e64ce2d7e8ed12f392d217f45984f25c716b69ab98b4abbc076196",
        "45f0d14a1f2e01b57353b3e3876ef41814a9bf84de99bbae26aae5c229c879e9",
    ),
}

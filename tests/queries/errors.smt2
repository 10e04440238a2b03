(declare-const x (_ BitVec 8))
(assert (= x #b1))
(assert (bvult x))
stray
(check-sat

; Two factors of 0x237 = 567, below 256.
(set-logic QF_BV)
(declare-const p (_ BitVec 32))
(declare-const q (_ BitVec 32))
(assert (= (bvmul p q) #x00000237))
(assert (bvult #x00000001 p))
(assert (bvule p q))
(assert (bvult q #x00000100))
(check-sat)
(get-value (p q))
; No factor is even.
(assert (= ((_ extract 0 0) p) #b0))
(check-sat)

(module
  (import "recut" "memory" (memory 1))
  ;; kernel relu
  ;; %y = relu
  (func (export "kernel_0_0") (param i32 i64 i64 i64 i32 i32)
    (local i32 i32 i32 i32 v128 v128)
    local.get 1
    i32.wrap_i64
    local.set 6
    local.get 2
    i32.wrap_i64
    local.get 6
    i32.sub
    i32.const -8
    i32.and
    local.get 6
    i32.add
    local.set 7
    local.get 6
    local.set 8
    local.get 0
    i32.load align=4
    local.get 6
    i32.const 4
    i32.mul
    i32.add
    local.set 9
    local.get 0
    i32.load offset=4 align=4
    local.get 6
    i32.const 4
    i32.mul
    i32.add
    local.set 6
    local.get 8
    local.get 7
    i32.lt_s
    if
      loop
        local.get 9
        v128.load align=4
        local.set 10
        local.get 9
        v128.load offset=16 align=4
        local.set 11
        v128.const i32x4 0x0 0x0 0x0 0x0
        local.get 10
        f32x4.pmax
        local.get 10
        local.get 10
        f32x4.ne
        v128.or
        local.set 10
        v128.const i32x4 0x0 0x0 0x0 0x0
        local.get 11
        f32x4.pmax
        local.get 11
        local.get 11
        f32x4.ne
        v128.or
        local.set 11
        local.get 6
        local.get 10
        v128.store align=4
        local.get 6
        local.get 11
        v128.store offset=16 align=4
        local.get 9
        i32.const 32
        i32.add
        local.set 9
        local.get 6
        i32.const 32
        i32.add
        local.set 6
        local.get 8
        i32.const 8
        i32.add
        local.tee 8
        local.get 7
        i32.lt_s
        br_if 0
      end
    end
  )
)

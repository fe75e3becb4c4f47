#include "engine/input/pickle_opcodes.h"

namespace recut {
namespace {

using Does = PickleAction;
using Takes = PickleArgument;

constexpr PickleOpcode kPickleOpcodes[] = {
    {'\x80', "PROTO", Does::protocol, Takes::byte},
    {'\x95', "FRAME", Does::frame, Takes::eight_bytes},
    {'.', "STOP", Does::stop},
    {'(', "MARK", Does::mark},
    {'N', "NONE", Does::none},
    {'\x88', "NEWTRUE", Does::yes},
    {'\x89', "NEWFALSE", Does::no},
    {'K', "BININT1", Does::number, Takes::byte},
    {'M', "BININT2", Does::number, Takes::two_bytes},
    {'J', "BININT", Does::signed_number, Takes::four_bytes},
    {'\x8a', "LONG1", Does::integer, Takes::integer_of_byte},
    {'\x8b', "LONG4", Does::integer, Takes::integer_of_four},
    {'G', "BINFLOAT", Does::real, Takes::eight_bytes},
    {'\x8c', "SHORT_BINUNICODE", Does::text, Takes::text_of_byte},
    {'X', "BINUNICODE", Does::text, Takes::text_of_four},
    {'\x8d', "BINUNICODE8", Does::text, Takes::text_of_eight},
    {']', "EMPTY_LIST", Does::empty_list},
    {')', "EMPTY_TUPLE", Does::empty_tuple},
    {'}', "EMPTY_DICT", Does::empty_dict},
    {'\x85', "TUPLE1", Does::tuple_of_one},
    {'\x86', "TUPLE2", Does::tuple_of_two},
    {'\x87', "TUPLE3", Does::tuple_of_three},
    {'t', "TUPLE", Does::tuple},
    {'a', "APPEND", Does::append},
    {'e', "APPENDS", Does::extend},
    {'s', "SETITEM", Does::set_item},
    {'u', "SETITEMS", Does::set_items},
    {'\x94', "MEMOIZE", Does::remember},
    {'q', "BINPUT", Does::remember_at, Takes::byte},
    {'r', "LONG_BINPUT", Does::remember_at, Takes::four_bytes},
    {'h', "BINGET", Does::recall, Takes::byte},
    {'j', "LONG_BINGET", Does::recall, Takes::four_bytes},

    {'c', "GLOBAL", Does::imports},
    {'\x93', "STACK_GLOBAL", Does::imports},
    {'\x82', "EXT1", Does::imports},
    {'\x83', "EXT2", Does::imports},
    {'\x84', "EXT4", Does::imports},
    {'i', "INST", Does::calls},
    {'o', "OBJ", Does::calls},
    {'R', "REDUCE", Does::calls},
    {'b', "BUILD", Does::calls},
    {'\x81', "NEWOBJ", Does::calls},
    {'\x92', "NEWOBJ_EX", Does::calls},
    {'P', "PERSID", Does::calls},
    {'Q', "BINPERSID", Does::calls},

    {'I', "INT", Does::foreign},
    {'L', "LONG", Does::foreign},
    {'F', "FLOAT", Does::foreign},
    {'S', "STRING", Does::foreign},
    {'T', "BINSTRING", Does::foreign},
    {'U', "SHORT_BINSTRING", Does::foreign},
    {'V', "UNICODE", Does::foreign},
    {'B', "BINBYTES", Does::foreign},
    {'C', "SHORT_BINBYTES", Does::foreign},
    {'\x8e', "BINBYTES8", Does::foreign},
    {'\x96', "BYTEARRAY8", Does::foreign},
    {'\x97', "NEXT_BUFFER", Does::foreign},
    {'\x98', "READONLY_BUFFER", Does::foreign},
    {'l', "LIST", Does::foreign},
    {'d', "DICT", Does::foreign},
    {'\x8f', "EMPTY_SET", Does::foreign},
    {'\x90', "ADDITEMS", Does::foreign},
    {'\x91', "FROZENSET", Does::foreign},
    {'0', "POP", Does::foreign},
    {'1', "POP_MARK", Does::foreign},
    {'2', "DUP", Does::foreign},
    {'g', "GET", Does::foreign},
    {'p', "PUT", Does::foreign},
};

}  // namespace

std::span<const PickleOpcode> pickle_opcodes() { return kPickleOpcodes; }

}  // namespace recut

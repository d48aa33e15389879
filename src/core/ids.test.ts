import { afterEach, expect, setSystemTime, test } from 'bun:test'
import { UUID } from 'uuidv7'
import { idTime, isId, newId, newUuid4, toBase32 } from './ids'

afterEach(() => {
  setSystemTime()
})

// From the list of valid TypeIDs of the specification, version 0.3.0.
test.each([
  ['00000000-0000-0000-0000-000000000000', '00000000000000000000000000'],
  ['00000000-0000-0000-0000-000000000001', '00000000000000000000000001'],
  ['00000000-0000-0000-0000-00000000000a', '0000000000000000000000000a'],
  ['00000000-0000-0000-0000-000000000010', '0000000000000000000000000g'],
  ['00000000-0000-0000-0000-000000000020', '00000000000000000000000010'],
  ['ffffffff-ffff-ffff-ffff-ffffffffffff', '7zzzzzzzzzzzzzzzzzzzzzzzzz'],
  ['0110c853-1d09-52d8-d73e-1194e95b5f19', '0123456789abcdefghjkmnpqrs'],
  ['01890a5d-ac96-774b-bcce-b302099a8057', '01h455vb4pex5vsknk084sn02q'],
])('the UUID %s is written %s', (uuid, suffix) => {
  expect(toBase32(UUID.parse(uuid).bytes)).toBe(suffix)
})

test('a new id has its prefix and the current time', () => {
  // Later than the real clock, and so later than any id created by another test.
  const now = Date.UTC(2100, 0, 31, 12, 0, 0, 123)
  setSystemTime(now)
  const id = newId('tok')
  expect(id).toMatch(/^tok_[0-7][0-9a-hjkmnp-tv-z]{25}$/)
  expect(isId(id, 'tok')).toBe(true)
  expect(idTime(id)).toBe(now)
})

test('the time of the example in the specification is decoded', () => {
  expect(idTime('tok_01h455vb4pex5vsknk084sn02q')).toBe(0x01890a5dac96)
})

test('ids are strictly increasing within a millisecond and when the clock is set back by an hour', () => {
  const now = Date.UTC(2101, 0, 1)
  setSystemTime(now)
  const ids = Array.from({ length: 5_000 }, () => newId('evt'))
  setSystemTime(now - 3_600_000)
  ids.push(...Array.from({ length: 5_000 }, () => newId('evt')))
  setSystemTime(now + 1)
  ids.push(newId('evt'))
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids).toEqual(ids.toSorted())
})

test.each([
  ['another prefix', 'ws_01h455vb4pex5vsknk084sn02q'],
  ['a longer prefix', 'token_01h455vb4pex5vsknk084sn02q'],
  ['no prefix', '01h455vb4pex5vsknk084sn02q'],
  ['no underscore', 'tok-01h455vb4pex5vsknk084sn02q'],
  ['a suffix too short', 'tok_01h455vb4pex5vsknk084sn02'],
  ['a suffix too long', 'tok_01h455vb4pex5vsknk084sn02qq'],
  ['capital letters', 'tok_01H455VB4PEX5VSKNK084SN02Q'],
  ['a letter outside the alphabet', 'tok_01h455vb4pex5vsknk084sn02l'],
  ['a letter beyond ASCII', 'tok_01h455vb4pex5vsknk084sn02é'],
  ['more than 128 bits', 'tok_8zzzzzzzzzzzzzzzzzzzzzzzzz'],
  ['nothing', ''],
])('isId refuses %s', (_, text) => {
  expect(isId(text, 'tok')).toBe(false)
})

test.each(['', 'tok', '_01h455vb4pex5vsknk084sn02q', 'tok_01h455vb4pex5vsknk084sn02u'])('idTime rejects %j', text => {
  expect(() => idTime(text)).toThrow(TypeError)
})

test('newUuid4 returns a random version 4 UUID', () => {
  expect(newUuid4()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(newUuid4()).not.toBe(newUuid4())
})

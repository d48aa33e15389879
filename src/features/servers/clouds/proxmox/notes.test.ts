import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { notesOf, parseNotes } from './notes'

const part = fc.stringMatching(/^[A-Za-z0-9._-]{1,63}$/)
const labels = fc.dictionary(
  part.filter(one => one !== '__proto__'),
  part,
  { maxKeys: 32, noNullPrototype: true },
)

test('notes are read as they were written, whatever people add below', () => {
  fc.assert(
    fc.property(labels, fc.string(), fc.boolean(), (given, more, isUnfinished) => {
      const written = notesOf({ mark: 'srv_1', image: '9000', labels: given }, 105, isUnfinished)
      expect(written.length).toBeLessThan(8192)
      const expected = { mark: 'srv_1', image: '9000', labels: given, isUnfinished }
      // Proxmox ends descriptions with a line break, and browsers send carriage returns.
      for (const text of [`${written}\n`, `${written.replaceAll('\n', '\r\n')}\r\n`, `${written}\n\n${more}`])
        expect(parseNotes(text, 105)).toEqual(expected)
    }),
  )
})

test('notes of another VMID, and other texts, say nothing', () => {
  const nothing = { mark: null, image: null, labels: {}, isUnfinished: false }
  const written = notesOf({ mark: 'srv_1', image: '9000', labels: { a: 'b' } }, 105, false)
  for (const text of [written.replace('105', '106'), `\n${written}`, 'bailiwick srv_1', 'label a=b', ''])
    expect(parseNotes(text, 105)).toEqual(nothing)
})

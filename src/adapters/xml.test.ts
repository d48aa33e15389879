import { expect, test } from 'bun:test'
import { childOf, childText, childrenOf, maxXmlLength, parseXml, xmlText } from './xml'

const doc = (inner: string) => `<?xml version="1.0" encoding="UTF-8"?>\n<r xmlns="urn:r" xmlns:d="urn:d">${inner}</r>\n`

test('namespaces are resolved, whatever their prefixes are', () => {
  const root = parseXml(
    doc('<d:name a="1">x</d:name><name>y</name><o:name xmlns:o="urn:o">z</o:name><name xmlns="urn:d">w</name>'),
  )
  expect(root).toMatchObject({ namespace: 'urn:r', name: 'r' })
  expect(childText(root, 'name')).toBe('y')
  expect(childrenOf(root, 'name', 'urn:d').map(one => one.text)).toEqual(['x', 'w'])
  expect(childOf(root, 'name', 'urn:d')?.attributes.get('a')).toBe('1')
  expect(childOf(root, 'name', 'urn:none')).toBeNull()
  expect(parseXml('<x:a/>')).toBeNull()
})

test('text has references, CDATA, and no comments', () => {
  expect(parseXml(doc(' a&amp;&#66;<!-- no --><![CDATA[<c>&amp;]]> '))?.text).toBe('a&B<c>&amp;')
  expect(childText(parseXml(doc('<e/>')), 'e')).toBeNull()
  const text = `a<b>&"c" 'd' \u{1f600}`
  expect(parseXml(`<a b="${xmlText(text)}">${xmlText(`${text}\u0000\ud800`)}</a>`)).toMatchObject({
    text: `${text}\ufffd`,
    attributes: new Map([['b', text]]),
  })
})

test.each([
  ['an internal entity', '<!DOCTYPE r [<!ENTITY x "y">]><r>&x;</r>'],
  ['an external reference', '<!DOCTYPE r SYSTEM "file:///etc/passwd"><r/>'],
  ['an external entity', '<!doctype r [<!ENTITY x SYSTEM "http://127.0.0.1/">]><r>&x;</r>'],
  ['10,000 levels', `${'<a>'.repeat(10_000)}${'</a>'.repeat(10_000)}`],
  ['33 levels', `${'<a>'.repeat(34)}${'</a>'.repeat(34)}`],
  ['too many elements', `<r>${'<b/>'.repeat(6000)}</r>`],
  ['too many attributes', `<r ${Array.from({ length: 6000 }, (_, n) => `a${n}="1"`).join(' ')}/>`],
  ['too many namespaces', `<r ${Array.from({ length: 60 }, (_, n) => `xmlns:n${n}="u"`).join(' ')}/>`],
  ['too much text', `<r>${'x'.repeat(maxXmlLength)}</r>`],
  ['another closing tag', '<a><b></a>'],
  ['a missing end', '<r><a>'],
  ['two roots', '<a/><b/>'],
  ['text after the root', '<a></a>b'],
  ['nothing', ''],
  ['JSON', '{"a": 1}'],
  ['HTML', '<html><body><p>Bad Gateway<br></body></html>'],
  ['a name that is a member of every object', '<__proto__>x</__proto__>'],
])('a document with %s is refused', (_, text) => {
  expect(parseXml(text)).toBeNull()
})

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { builtinTemplates } from './builtin-templates'
import { contentProblems } from './content-check'
import type { TemplateContent, TemplateRecord } from './content'
import { render, type Place } from './render'
import { settleValues } from './variables'

const apex: Place = { zone: 'example.com', host: '@' }
const shop: Place = { zone: 'example.com', host: 'shop.eu' }
const text = (name: string) => ({ name, type: 'string' as const, required: false })
const rendered = (records: TemplateRecord[], values: Record<string, string>, place = apex) =>
  render({ variables: Object.keys(values).map(text), records }, place, values)

describe('a template', () => {
  test.each([
    ['@', apex, '@'],
    ['www', apex, 'www'],
    ['@', shop, 'shop.eu'],
    ['', shop, 'shop.eu'],
    ['www', shop, 'www.shop.eu'],
    ['other.example.com.', shop, 'other'],
    ['{{v}}._domainkey', shop, 'x._domainkey.shop.eu'],
  ] as const)('places %s at %j as %s', (name, place, expected) => {
    const { records } = rendered([{ type: 'TXT', name, content: 'a' }], { v: 'x' }, place)
    expect(records.map(one => one.name)).toEqual([expected])
  })

  test('resolves single-label names in values relative to its host', () => {
    const records = [{ type: 'MX', name: '@', content: '10 mail' }]
    expect(rendered(records, {}, shop).records[0]!.value.content).toBe('10 mail.shop.eu.example.com.')
  })

  test('has variables for its zone and host', () => {
    const records = [{ type: 'TXT', name: '@', content: '{{zone}} {{host}} {{ fqdn }}' }]
    expect([apex, shop].map(place => rendered(records, {}, place).records[0]!.text)).toEqual([
      'example.com @ example.com',
      'example.com shop.eu shop.eu.example.com',
    ])
  })

  test('skips records whose condition is empty', () => {
    const records = [{ type: 'TXT', name: '@', content: '{{v}}', when: 'v' }]
    expect([rendered(records, { v: '' }).records.length, rendered(records, { v: 'x' }).records.length]).toEqual([0, 1])
  })

  test('fills int variables into fields as numbers', () => {
    const content: TemplateContent = {
      variables: [{ name: 'n', type: 'int' }],
      records: [{ type: 'MX', name: '@', fields: { preference: '{{n}}', exchange: 'm{{n}}.{{zone}}.' } }],
    }
    expect(render(content, apex, { n: '5' }).records[0]!.value.content).toBe('5 m5.example.com.')
  })

  const value = fc.string({ unit: 'binary', maxLength: 300 }).filter(one => one.isWellFormed() && !one.includes('\0'))

  test('fills any value into a TXT unchanged', () => {
    fc.assert(
      fc.property(value, value, (a, b) => {
        const { records, problems } = rendered([{ type: 'TXT', name: '@', content: 'x{{a}} y={{b}};{{a}}' }], { a, b })
        expect([problems, records[0]!.text]).toEqual([[], `x${a} y=${b};${a}`])
        const [bare] = rendered([{ type: 'TXT', name: '@', content: '{{a}}' }], { a }).records
        expect(bare!.text).toBe(a)
      }),
    )
  })

  test('fills any short value into a quoted string unchanged', () => {
    const short = fc.string({ maxLength: 60 })
    fc.assert(
      fc.property(short, a => {
        const { records, problems } = rendered([{ type: 'TXT', name: '@', content: '"x {{a}}" "y\\"{{a}}"' }], { a })
        expect([problems, records[0]!.text]).toEqual([[], `x ${a}y"${a}`])
        const caa = rendered([{ type: 'CAA', name: '@', content: '0 issue "ca.example; id={{a}}"' }], { a })
        if (caa.records[0]) expect(caa.records[0].value.content.startsWith('0 issue "')).toBe(true)
        else expect(caa.problems[0]!.pointer).toBe('#/records/0/content')
      }),
    )
  })

  test('renders or fails with a pointer to the record, for any values', () => {
    const type = fc.constantFrom('A', 'AAAA', 'CNAME', 'MX', 'TXT', 'SRV', 'CAA', 'HTTPS', 'NS')
    fc.assert(
      fc.property(type, value, value, (kind, a, b) => {
        const { records, problems } = rendered([{ type: kind, name: '{{a}}', content: '{{b}} {{a}}' }], { a, b }, shop)
        expect(records.length + problems.length).toBe(1)
        for (const one of problems) expect(one.pointer).toMatch(/^#\/records\/0\/(name|content)$/)
      }),
      { numRuns: 300 },
    )
  })
})

describe('variable values', () => {
  test.each([
    ['ip', '192.0.2.1', '192.0.2.1'],
    ['ip', '2001:db8::1', null],
    ['ip', '192.0.2.01', null],
    ['ipv6', '2001:DB8:0::1', '2001:db8::1'],
    ['ipv6', '::ffff:192.0.2.1', null],
    ['host', 'Mail.Example.NET', 'mail.example.net'],
    ['host', 'mail.example.net.', 'mail.example.net.'],
    ['host', '*.example.net', null],
    ['host', '-a.example', null],
    ['host', '.', null],
    ['string', 'a b', 'a b'],
    ['string', 'a\nb', null],
    ['string', '', null],
    ['int', 7, '7'],
    ['int', '-7', '-7'],
    ['int', '07', null],
    ['int', '1e3', null],
  ] as const)('of type %s: %p becomes %p', (type, input, expected) => {
    const { values, problems } = settleValues([{ name: 'v', type }], { v: input })
    expect(problems.length === 0 ? values.v! : null).toBe(expected)
  })

  test('fall back to the default, then to empty', () => {
    const variables = [
      { name: 'a', type: 'ip' as const, default: '192.0.2.1' },
      { name: 'b', type: 'ip' as const, required: false },
      { name: 'c', type: 'ip' as const, default: '192.0.2.1', required: true },
    ]
    const { values, problems } = settleValues(variables, {})
    expect(values).toEqual({ a: '192.0.2.1', b: '' })
    expect(problems.map(one => `${one.pointer} ${one.code}`)).toEqual(['#/variables/c required'])
    // Properties of Object.prototype are not variables.
    expect(settleValues([], { constructor: 'x' }).problems.length).toBe(1)
  })
})

test('the built-in templates are valid', () => {
  for (const { id, content } of builtinTemplates.values()) expect([id, contentProblems(content)]).toEqual([id, []])
})

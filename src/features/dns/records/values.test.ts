import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { fieldsOf } from '../../../dns/rdata'
import { anyFields } from '../../../../test/support/dns-values'
import { joinedText, typeOf, valueOf, valueOfRdata } from './values'

const creatable = Object.entries(anyFields).filter(([type]) => {
  try {
    return typeOf(type) === type
  } catch {
    return false
  }
})

describe('a value', () => {
  test('can have every type except those managed elsewhere', () => {
    const others = Object.keys(anyFields).filter(type => !creatable.some(([one]) => one === type))
    expect(others.sort()).toEqual(['NSEC', 'NSEC3', 'NSEC3PARAM', 'RRSIG', 'SOA'])
  })

  test.each(creatable)('of type %s is the same from its fields, text and rdata', (type, arbitrary) => {
    fc.assert(
      fc.property(arbitrary, fields => {
        const value = valueOf(type, { fields }, 'zone.example.')
        expect(fieldsOf(type, value.rdata)).toEqual(fields)
        expect(valueOf(type, { content: value.content }, 'zone.example.')).toEqual(value)
        expect(valueOfRdata(type, value.rdata)).toEqual(value)
      }),
      { numRuns: 60 },
    )
  })

  test('of type TXT can be any text', () => {
    const text = fc.string({ unit: 'binary', maxLength: 700 }).filter(one => one.isWellFormed() && !/^\s*"|^\\#\s/.test(one))
    fc.assert(
      fc.property(text, content => {
        const value = valueOf('TXT', { content }, 'zone.example.')
        expect(joinedText('TXT', value.rdata)).toBe(content)
      }),
    )
  })

  test('is compared case-insensitively', () => {
    const hash = (content: string) => valueOf('MX', { content }, 'zone.example.').hash
    expect(hash('10 MAIL.example.net.')).toBe(hash('10 mail.example.net'))
    expect(hash('10 mail')).toBe(hash('10 mail.zone.EXAMPLE.'))
    expect(hash('10 mail')).not.toBe(hash('10 mail.'))
  })

  test('resolves each of its names as absolute or relative', () => {
    expect(valueOf('RP', { content: 'admin help.example.net' }, 'zone.example.').content).toBe(
      'admin.zone.example. help.example.net.',
    )
    expect(valueOf('SVCB', { content: '0 svc' }, 'zone.example.').content).toBe('0 svc.zone.example.')
    const long = `${'x'.repeat(60)}.`.repeat(4)
    expect(valueOf('CNAME', { content: long.slice(0, -1) }, `${'y'.repeat(20)}.example.`).content).toBe(long)
  })

  test('has its target name in lower case', () => {
    expect(valueOf('SRV', { content: '1 2 3 A.Example.net.' }, 'zone.example.').target).toBe('a.example.net.')
    expect(valueOf('A', { content: '192.0.2.1' }, 'zone.example.').target).toBeNull()
  })
})

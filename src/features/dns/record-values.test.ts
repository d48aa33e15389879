import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { fieldsOf } from '../../core/dns/rdata'
import { anyFields } from '../../../test/support/dns-values'
import { joinedText, typeOf, valueOf, valueOfRdata } from './record-values'

const kept = Object.entries(anyFields).filter(([type]) => {
  try {
    return typeOf(type) === type
  } catch {
    return false
  }
})

describe('a value', () => {
  test('may be of every type but those that are made elsewhere', () => {
    const others = Object.keys(anyFields).filter(type => !kept.some(([one]) => one === type))
    expect(others.sort()).toEqual(['NSEC', 'NSEC3', 'NSEC3PARAM', 'RRSIG', 'SOA'])
  })

  test.each(kept)('of %s is the same by its fields, by its text and by its octets', (type, arbitrary) => {
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

  test('of TXT is any text, whatever is in it', () => {
    const text = fc.string({ unit: 'binary', maxLength: 700 }).filter(one => one.isWellFormed() && !/^\s*"|^\\#\s/.test(one))
    fc.assert(
      fc.property(text, content => {
        const value = valueOf('TXT', { content }, 'zone.example.')
        expect(joinedText('TXT', value.rdata)).toBe(content)
      }),
    )
  })

  test('is equal to another whatever the case of its names', () => {
    const hash = (content: string) => valueOf('MX', { content }, 'zone.example.').hash
    expect(hash('10 MAIL.example.net.')).toBe(hash('10 mail.example.net'))
    expect(hash('10 mail')).toBe(hash('10 mail.zone.EXAMPLE.'))
    expect(hash('10 mail')).not.toBe(hash('10 mail.'))
  })

  test('has its several names absolute or below the zone, each by its own labels', () => {
    expect(valueOf('RP', { content: 'admin help.example.net' }, 'zone.example.').content).toBe(
      'admin.zone.example. help.example.net.',
    )
    expect(valueOf('SVCB', { content: '0 svc' }, 'zone.example.').content).toBe('0 svc.zone.example.')
    const long = `${'x'.repeat(60)}.`.repeat(4)
    expect(valueOf('CNAME', { content: long.slice(0, -1) }, `${'y'.repeat(20)}.example.`).content).toBe(long)
  })

  test('leads to the name that is in it, in lower case', () => {
    expect(valueOf('SRV', { content: '1 2 3 A.Example.net.' }, 'zone.example.').target).toBe('a.example.net.')
    expect(valueOf('A', { content: '192.0.2.1' }, 'zone.example.').target).toBeNull()
  })
})

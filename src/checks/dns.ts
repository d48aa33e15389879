import { isIP } from 'node:net'
import type { Static } from '@sinclair/typebox'
import { DnsFormatError } from '../core/dns/format-error'
import { CLASS, message, rcodeName, type Message } from '../core/dns/message'
import { lowerName, parseName, toAscii } from '../core/dns/name'
import { textOf } from '../core/dns/rdata'
import { isMetaType, isTypeName, typeCode } from '../core/dns/type-codes'
import { UDP_SIZE } from '../core/dns/edns'
import { formatAddress, parseAddress } from '../core/net/address'
import { attempt } from './attempt'
import { CheckInputRefused, type CheckType } from './check'
import { CheckFailed } from './connect-failure'
import { missing, refuseAnswers } from './dns/answers'
import { dnsOptions } from './dns/options'
import { askOver } from './dns/over'
import { reverseName } from './dns/reverse-name'
import { serverOf, serverText } from './dns/server'
import { quoted } from './talk'
import { refuseCertificates, refuseServerName, tlsDestination, tlsSecrets } from './tls-options'

type DnsOptions = Static<typeof dnsOptions>

/** Answers of name servers, over UDP, TCP, TLS and HTTPS. */
export const dns: CheckType<DnsOptions> = {
  name: 'dns',
  title: 'DNS record',
  description:
    'Asks a name server for a record. Down when no answer comes, the answer has another code, or the records are not those that are expected.',
  targetForm: 'The name that is asked for: `www.example.com`; an address with the type PTR.',
  options: dnsOptions,
  secrets: tlsSecrets,
  destination: ['/resolver', '/servername', ...tlsDestination],
  sources: ['CONNECTED', 'RESPONSE_TIME', 'TTFB', 'IP', 'DNS_RCODE', 'DNS_ANSWER', 'CERTIFICATE_EXPIRATION', 'TLS_VERSION'],
  target: dnsTarget,
  refuse: refuseDnsOptions,
  run: (target, given, around) =>
    attempt(around, async one => {
      const type = (given.record_type ?? 'A').toUpperCase()
      const name = isIP(target) ? reverseName(target) : absolute(target)
      const server = serverOf(given)
      const by = given.transport ?? 'udp'
      one.facts.request = `${type} ${name} by ${by} of ${server ? serverText(server) : 'the resolvers of this machine'}`
      const dnssec = given.require_dnssec ?? false
      const query = message({
        id: 0,
        flags: { rd: given.recursion ?? true, ad: dnssec },
        question: [{ name, type, class: CLASS.IN }],
        edns: { udpSize: UDP_SIZE, version: 0, dnssec, options: [] },
      })
      const answer = await askOver(one, query, server, given)
      const records = answer.answer.filter(record => record.type === type && record.class === CLASS.IN)
      one.facts.connected = true
      one.facts.dns = {
        rcode: rcodeName(answer.rcode),
        answers: records.slice(0, mostAnswers).map(one => textOf(type, one.rdata)),
      }
      judge(answer, type, given)
    }),
}

// Of a record set that is larger, the rest is neither shown nor asked for by conditions.
const mostAnswers = 100

/** @throws CheckFailed */
function judge(answer: Message, type: string, given: DnsOptions): void {
  const expected = given.expected_rcode ?? 'NOERROR'
  const rcode = rcodeName(answer.rcode)
  if (rcode !== expected) throw new CheckFailed('status', `${rcode} where ${expected} is expected`)
  const wrong = (text: string) => new CheckFailed('content', text)
  if (given.require_authoritative && !answer.flags.aa) throw wrong('the answer is not authoritative')
  if (given.require_dnssec && !answer.flags.ad) throw wrong('the resolver has not proven the answer by DNSSEC')
  const records = answer.answer.filter(record => record.type === type && record.class === CLASS.IN)
  if (records.length === 0 && expected === 'NOERROR' && (given.require_answer ?? true))
    throw wrong(`there is no record of the type ${type}`)
  const fault = missing(type, records, given.expected_answers ?? [], given.match ?? 'all')
  if (fault !== null) throw wrong(fault)
}

/** @throws CheckInputRefused */
function dnsTarget(text: string): string {
  const address = parseAddress(text)
  if (address) return formatAddress(address)
  if (text === '') throw new CheckInputRefused('/target', 'must be a name of DNS: www.example.com.')
  try {
    const name = lowerName(absolute(text))
    return name === '.' ? name : name.slice(0, -1)
  } catch (error) {
    if (error instanceof DnsFormatError)
      throw new CheckInputRefused('/target', `must be a name of DNS, or an address with the type PTR: ${quoted(text)} is none.`)
    throw error
  }
}

const absolute = (text: string): string => {
  const name = toAscii(text)
  return parseName(name.endsWith('.') ? name : `${name}.`, null)
}

/** @throws CheckInputRefused */
function refuseDnsOptions(given: DnsOptions, target: string): void {
  const refuse = (member: string, rule: string): never => {
    throw new CheckInputRefused(`/options/${member}`, rule)
  }
  const type = (given.record_type ?? 'A').toUpperCase()
  if (!isTypeName(type) || isMetaType(typeCode(type))) refuse('record_type', 'must be a type of records: A, MX, TYPE65280.')
  if (isIP(target) && type !== 'PTR') refuse('record_type', 'must be PTR where the target is an address.')
  refuseAnswers(type, given.expected_answers ?? [])
  const by = given.transport ?? 'udp'
  if (given.resolver === undefined && (by === 'dot' || by === 'doh')) refuse('resolver', `is required with the transport ${by}.`)
  if (given.require_authoritative && given.resolver === undefined)
    refuse('require_authoritative', 'goes with a `resolver` alone: those of this machine are not authoritative.')
  serverOf(given)
  refuseServerName(given.servername)
  refuseCertificates(given)
}

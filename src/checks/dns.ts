import { isIP } from 'node:net'
import type { Static } from '@sinclair/typebox'
import { DnsFormatError } from '../dns/format-error'
import { CLASS, message, rcodeName, type Message } from '../dns/message'
import { lowerName, parseName, toAscii } from '../dns/name'
import { textOf } from '../dns/rdata'
import { isMetaType, isTypeName, typeCode } from '../dns/type-codes'
import { UDP_SIZE } from '../dns/edns'
import { formatAddress, parseAddress } from '../core/net/address'
import { runAttempt } from './attempt'
import { InvalidCheckInput, type CheckType } from './check'
import { CheckFailed } from './connect-failure'
import { TooExpensive } from './conditions/budget'
import { answerMismatch, validateExpectedAnswers } from './dns/expected-answers'
import { dnsOptions } from './dns/options'
import { queryServers } from './dns/transports'
import { reverseName } from './dns/reverse-name'
import { parseServer, formatServer } from './dns/server'
import { quoted } from './buffered-connection'
import { validateCertificates, validateServerName, tlsDestination, tlsSecrets } from './tls-options'

type DnsOptions = Static<typeof dnsOptions>

/** DNS queries over UDP, TCP, TLS, and HTTPS. */
export const dns: CheckType<DnsOptions> = {
  name: 'dns',
  title: 'DNS record',
  description:
    'Queries a name server for a record. Fails if there is no response, the response code differs, or the records are not the expected ones.',
  targetDescription: 'The name to query, such as `www.example.com`, or an IP address with record type PTR.',
  options: dnsOptions,
  secrets: tlsSecrets,
  destination: ['/resolver', '/server_name', ...tlsDestination],
  sources: [
    'CONNECTED',
    'RESPONSE_TIME',
    'TTFB',
    'IP',
    'DNS_RCODE',
    'DNS_ANSWER',
    'CERTIFICATE_EXPIRATION',
    'TLS_VERSION',
    'DOMAIN_EXPIRATION',
  ],
  target: dnsTarget,
  validate: validateDnsOptions,
  run: (target, options, context) =>
    runAttempt(context, async attempt => {
      const type = (options.record_type ?? 'A').toUpperCase()
      const name = isIP(target) ? reverseName(target) : absolute(target)
      const server = parseServer(options)
      const transport = options.transport ?? 'udp'
      attempt.facts.request = `${type} ${name} over ${transport} from ${server ? formatServer(server) : 'the system resolvers'}`
      const dnssec = options.require_dnssec ?? false
      const query = message({
        id: 0,
        flags: { rd: options.recursion ?? true, ad: dnssec },
        question: [{ name, type, class: CLASS.IN }],
        edns: { udpSize: UDP_SIZE, version: 0, dnssec, options: [] },
      })
      const answer = await queryServers(attempt, query, server, options)
      const records = answer.answer.filter(record => record.type === type && record.class === CLASS.IN)
      attempt.facts.connected = true
      attempt.facts.dns = {
        rcode: rcodeName(answer.rcode),
        answers: records.slice(0, maxAnswers).map(one => textOf(type, one.rdata)),
      }
      verifyResponse(answer, type, options)
    }),
}

// Further records of a larger set are neither shown nor available to conditions.
const maxAnswers = 100

/** @throws CheckFailed */
function verifyResponse(answer: Message, type: string, options: DnsOptions): void {
  const expected = options.expected_rcode ?? 'NOERROR'
  const rcode = rcodeName(answer.rcode)
  if (rcode !== expected) throw new CheckFailed('status', `response code is ${rcode}, expected ${expected}`)
  const failure = (text: string) => new CheckFailed('content', text)
  if (options.require_authoritative && !answer.flags.aa) throw failure('the response is not authoritative')
  if (options.require_dnssec && !answer.flags.ad) throw failure('the resolver did not validate the answer with DNSSEC')
  const records = answer.answer.filter(record => record.type === type && record.class === CLASS.IN)
  if (records.length === 0 && expected === 'NOERROR' && (options.require_answer ?? true))
    throw failure(`no ${type} records in the answer`)
  try {
    const mismatch = answerMismatch(type, records, options.expected_answers ?? [], options.match ?? 'all')
    if (mismatch !== null) throw failure(mismatch)
  } catch (error) {
    if (!(error instanceof TooExpensive)) throw error
    throw new CheckFailed('condition', `comparing the answer with the expected answers ${error.message}`)
  }
}

/** @throws InvalidCheckInput */
function dnsTarget(text: string): string {
  const address = parseAddress(text)
  if (address) return formatAddress(address)
  if (text === '') throw new InvalidCheckInput('/target', 'must be a DNS name such as www.example.com.')
  try {
    const name = lowerName(absolute(text))
    return name === '.' ? name : name.slice(0, -1)
  } catch (error) {
    if (error instanceof DnsFormatError)
      throw new InvalidCheckInput('/target', `must be a DNS name, or an IP address with record type PTR, not ${quoted(text)}.`)
    throw error
  }
}

const absolute = (text: string): string => {
  const name = toAscii(text)
  return parseName(name.endsWith('.') ? name : `${name}.`, null)
}

/** @throws InvalidCheckInput */
function validateDnsOptions(options: DnsOptions, target: string): void {
  const reject = (member: string, rule: string): never => {
    throw new InvalidCheckInput(`/options/${member}`, rule)
  }
  const type = (options.record_type ?? 'A').toUpperCase()
  if (!isTypeName(type) || isMetaType(typeCode(type))) reject('record_type', 'must be a record type such as A, MX, or TYPE65280.')
  if (isIP(target) && type !== 'PTR') reject('record_type', 'must be PTR if the target is an IP address.')
  validateExpectedAnswers(type, options.expected_answers ?? [])
  const transport = options.transport ?? 'udp'
  if (options.resolver === undefined && (transport === 'dot' || transport === 'doh'))
    reject('resolver', `is required with transport ${transport}.`)
  if (options.require_authoritative && options.resolver === undefined)
    reject('require_authoritative', 'must be used with a `resolver`: the system resolvers are not authoritative.')
  parseServer(options)
  validateServerName(options.server_name)
  validateCertificates(options)
}

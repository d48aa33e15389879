import { systemClock } from '../../core/clock'
import { createAuthority } from '../certificate-authority'
import { json, type Operation, type SentBody } from './client'

const imported = 1000
const bulkSize = 500
// The largest upload that is accepted: 256 KiB and 100 certificates.
const uploaded = 100
const names = 10_000
const dayMs = 86_400_000

const pem = (text: string): SentBody => ({ text, type: 'application/x-pem-file' })

/** Names from `00.a`. */
const shortName = (n: number): string =>
  `${Math.floor(n / 26)
    .toString(36)
    .padStart(2, '0')}.${String.fromCharCode(97 + (n % 26))}`

/** Large requests for certificates and TLS endpoints. @param port of a local TLS server */
export function certificateOperations(port: number): Operation[] {
  const now = systemClock.now()
  const authority = createAuthority('Bench', now)
  const issue = (all: string[]) => authority.issue(all as [string, ...string[]], now - dayMs, now + 30 * dayMs).cert
  const repeated = <T>(count: number, item: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => item(n))
  const authorities = repeated(uploaded - 1, n => createAuthority(`Bench ${n} ${'x'.repeat(700)}`, now).cert)
  const chain = issue(['chain.bench.test']) + authorities.join('')
  // Short names, because a certificate can have 64 KiB.
  const named = issue(repeated(names, shortName))
  // Nothing listens there.
  const lines = repeated(imported, n => `127.9.${n >> 8}.${n & 255}:9\n`).join('')
  const endpoint = (n: number) => ({ op: 'create', body: { host: `e${n}.bench.test`, port: 443, active: false } })
  const read = (name: string, path: string): Operation => ({ name, method: 'GET', path })
  const write = (name: string, path: string, body: SentBody): Operation => ({ name, method: 'POST', path, body })
  return [
    write(`bulk of ${bulkSize} TLS endpoints`, '/v1/tls-endpoints/bulk', json({ operations: repeated(bulkSize, endpoint) })),
    write('grade of a TLS server', '/v1/tls-grades', json({ host: '127.0.0.1', port })),
    write(`upload of ${uploaded} certificates`, '/v1/certificates', pem(chain)),
    { ...write('rejected upload of 256 KiB', '/v1/certificates', pem('-----BEGIN A-----\n'.repeat(14_000))), refused: true },
    write(`certificate with ${names} names`, '/v1/certificates', pem(named)),
    read('list of 100 certificates', '/v1/certificates?limit=100'),
    read('search for a name of a certificate', '/v1/certificates?name=00.a'),
    read('list of 100 TLS endpoints', '/v1/tls-endpoints?limit=100'),
    read('list of 100 names that need certificates', '/v1/certificates/coverage?limit=100'),
    read('list of 100 certificate gaps', '/v1/certificate-gaps?limit=100'),
    // Last, because their scans continue afterwards.
    write(`import of ${imported} TLS endpoints`, '/v1/tls-endpoints/import', { text: lines, type: 'text/plain' }),
  ]
}

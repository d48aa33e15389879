import type { DetailedPeerCertificate, TLSSocket } from 'node:tls'
import type { Attempt } from '../attempt'
import { upgradeToTls } from '../connect'
import type { Chains } from './chains'
import { CheckFailed } from '../connect-failure'
import { ExchangeFailed, type Exchanges } from './exchange'
import { maxChainCertificates, type AddressFacts, type ProtocolVersion } from './facts'
import { askHttp, mayBeHttp } from './http-facts'

/**
 * Completes a handshake like an ordinary client: for the certificates of TLS 1.3, ALPN, and HTTP headers.
 * @param facts where to record `alpn` and `http`
 * @returns whether the server was asked for HTTP headers
 * @throws ExchangeFailed
 */
export async function ordinaryHandshake(
  exchanges: Exchanges,
  chains: Chains,
  facts: Pick<AddressFacts, 'alpn' | 'http' | 'groups'>,
): Promise<boolean> {
  const { vetted, protocol, servername } = exchanges.target
  const { port } = vetted
  const settings = {
    name: servername ?? vetted.address,
    verify: false,
    minVersion: '1.0',
    // Without trusted roots, the chain contains just what the server sent.
    ca: '',
    // Cheaper, and enough to read certificates.
    classicalKeyExchange: facts.groups.length === 0 || facts.groups.some(one => one.kind === 'ec'),
  } as const
  const ask = async (attempt: Attempt, socket: TLSSocket) => {
    try {
      facts.http = await askHttp(attempt, socket, servername ?? vetted.address, port)
    } catch (error) {
      throw error instanceof CheckFailed ? new ExchangeFailed('http', error) : error
    }
  }
  const asked = await exchanges.connected(async (attempt, socket) => {
    const secured = await upgradeToTls(attempt, socket, { ...settings, ...(protocol === 'tls' && { alpn: ['h2', 'http/1.1'] }) })
    addChain(chains, secured)
    facts.alpn = typeof secured.alpnProtocol === 'string' && secured.alpnProtocol !== '' ? secured.alpnProtocol : null
    const isAsked = protocol === 'tls' && mayBeHttp(port, facts.alpn)
    if (isAsked && facts.alpn !== 'h2') await ask(attempt, secured)
    return isAsked
  })
  if (facts.alpn === 'h2')
    await exchanges.connected(async (attempt, socket) =>
      ask(attempt, await upgradeToTls(attempt, socket, { ...settings, alpn: ['http/1.1'] })),
    )
  return asked
}

function addChain(chains: Chains, secured: TLSSocket): void {
  const certificates: Uint8Array[] = []
  let one: DetailedPeerCertificate | undefined = secured.getPeerCertificate(true)
  let count = 0
  for (const seen = new Set<DetailedPeerCertificate>(); one?.raw && !seen.has(one); one = one.issuerCertificate) {
    seen.add(one)
    if (++count <= maxChainCertificates) certificates.push(Uint8Array.from(one.raw))
  }
  const version = versionNames[secured.getProtocol() ?? '']
  if (count > 0 && version) chains.add({ certificates, count }, version, version === '1.3' ? 'any' : null, true)
}

const versionNames: Record<string, ProtocolVersion> = { TLSv1: '1.0', 'TLSv1.1': '1.1', 'TLSv1.2': '1.2', 'TLSv1.3': '1.3' }

import { settleMs } from '../../src/features/certificates/gaps-job'
import { workOutAllGaps } from '../../src/features/coverage/schedule'
import { makeCertificate } from './make-certificates'
import { startTlsServer } from './tls-server'
import { closeLater, type World } from './world'

const dayMs = 86_400_000
const minuteMs = 60_000

/** A TLS server whose certificates are scanned by a hub, so that they open and resolve gaps. */
export async function gapScene(here: World) {
  const { call } = here.acme
  let server = await startTlsServer()
  closeLater(() => server.close())

  /** Makes the server present a certificate. */
  const serve = async (certificate: { pem: string; key: string }) => {
    await server.close()
    server = await startTlsServer({ certificate, port: server.port })
  }

  /** Makes the server present a self-signed certificate that ends at a time (ms UTC). */
  const serveOwn = async (name: string, notAfter = here.clock.now() + 90 * dayMs) => {
    const { pem, keyPem } = await makeCertificate({ names: [name], notAfter: new Date(notAfter) })
    await serve({ pem, key: keyPem })
  }

  /** Works out the gaps. Scans have added a job for it that is due a little later. */
  const workOut = async () => {
    await workOutAllGaps(here.hub)
    await here.advance(settleMs)
  }

  const scan = async (endpointId: string) => {
    const { status } = await call('POST', `/v1/tls-endpoints/${endpointId}/scan`)
    if (status !== 202) throw new Error(`The scan was refused: ${status}`)
    await here.settle()
    await workOut()
  }

  /** An open gap of a name, for which the server presents a self-signed certificate. */
  const openGap = async (name: string) => {
    await serveOwn(name)
    const where = { host: '127.0.0.1', port: server.port, servername: name }
    const endpointId = (await call('POST', '/v1/tls-endpoints', where)).body.id as string
    await here.settle()
    await here.advance(5 * minuteMs)
    await scan(endpointId)
    const [gap] = (await call('GET', `/v1/certificate-gaps?name=${name}&kind=untrusted_served`)).body.data
    if (gap?.status !== 'open') throw new Error(`The gap of ${name} is not open.`)
    await here.audited()
    return { id: gap.id as string, gap, endpointId, path: `/v1/certificate-gaps/${gap.id}` }
  }

  return { port: server.port, serve, serveOwn, scan, workOut, openGap }
}

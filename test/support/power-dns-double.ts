import { powerDns, type PowerDns, type Rrset } from '../../src/cli/demo/power-dns'

/** How an answer goes wrong: a status, no answer for good, a body that ends in the middle, or a connection that ends before any. */
export type Trouble =
  | { status: number; body?: string; headers?: Record<string, string> }
  | 'hang'
  | 'hang after doing it'
  | 'cut body'
  | 'cut connection'
  | 'cut connection after doing it'
  | 'half of the rrsets'
  /** So many rrsets, the SOA and the NS of the apex first, in an answer that is whole otherwise. */
  | { rrsets: number }
  | 'a gigabyte'

/** A PowerDNS Authoritative Server with its zones in memory, which can be made to fail. */
export interface PowerDnsDouble extends PowerDns {
  url: string
  /** Requests so far, such as `PATCH /zones/example.com.`. */
  asked: string[]
  /** What becomes of a request, when it is no answer; null for those that are answered as they should be. */
  trouble: (request: string) => Trouble | null | Promise<Trouble | null>
  stop(): void
}

export function powerDnsDouble(apiKey = 'key-of-the-double'): PowerDnsDouble {
  const here: PowerDnsDouble = Object.assign(
    powerDns(apiKey, () => Date.now()),
    { url: '', asked: [], trouble: () => null, stop: () => void server.stop(true) },
  )
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      const url = new URL(request.url)
      const path = url.pathname.replace(/^\/api\/v1/, '')
      const body = await request.text()
      const asked = `${request.method} ${path.replace('/servers/localhost', '')}`
      here.asked.push(asked)
      const trouble = await here.trouble(asked)
      if (trouble === 'hang') return await never()
      if (trouble === 'cut connection') return cutBefore()
      if (trouble !== null && typeof trouble === 'object' && 'status' in trouble)
        return new Response(trouble.body ?? `{"error": "trouble"}`, { status: trouble.status, headers: trouble.headers ?? {} })
      if (trouble === 'a gigabyte') return endless()
      const answer = here.answer(request, body)
      if (trouble === 'hang after doing it') return await never()
      if (trouble === 'cut connection after doing it') return cutBefore()
      if (trouble === 'cut body') return cutInside(await answer.text())
      if (trouble === 'half of the rrsets') return halved((await answer.json()) as { rrsets: unknown[] })
      if (trouble !== null && typeof trouble === 'object')
        return reduced((await answer.json()) as { rrsets: Rrset[] }, trouble.rrsets)
      return answer
    },
  })
  here.url = `http://127.0.0.1:${server.port}`
  return here
}

const never = () => new Promise<never>(() => {})

// A stream that fails ends its connection; what it fails with would be printed.
const cutInside = (text: string) =>
  new Response(
    new ReadableStream({
      async pull(controller) {
        controller.enqueue(text.slice(0, Math.floor(text.length / 2)))
        await Bun.sleep(1)
        controller.error(undefined)
      },
    }),
    { headers: { 'content-type': 'application/json' } },
  )

/** Ends the connection in place of an answer. */
export const cutBefore = () => new Response(new ReadableStream({ start: controller => controller.error(undefined) }))

const halved = (zone: { rrsets: unknown[] }) => {
  const soaFirst = zone.rrsets.toSorted((a, b) => Number((b as any).type === 'SOA') - Number((a as any).type === 'SOA'))
  return Response.json({ ...zone, rrsets: soaFirst.slice(Math.ceil(soaFirst.length / 2)) })
}

const reduced = (zone: { rrsets: Rrset[] }, kept: number) => {
  const first = (one: Rrset) => ['SOA', 'NS'].indexOf(one.type) + 1 || 3
  return Response.json({ ...zone, rrsets: zone.rrsets.toSorted((a, b) => first(a) - first(b)).slice(0, kept) })
}

function endless(): Response {
  const chunk = new Uint8Array(1024 * 1024).fill(32)
  let left = 1024
  return new Response(
    new ReadableStream({
      pull(controller) {
        if (left-- > 0) controller.enqueue(chunk)
        else controller.close()
      },
    }),
  )
}

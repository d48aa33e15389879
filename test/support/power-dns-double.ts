import { powerDns, type PowerDns, type Rrset } from '../../src/cli/demo/power-dns'

/** Simulated failures: a status, no response ever, a truncated body, or a connection that closes without a response. */
export type Trouble =
  | { status: number; body?: string; headers?: Record<string, string> }
  | 'hang'
  | 'hang after doing it'
  | 'cut body'
  | 'cut connection'
  | 'cut connection after doing it'
  | 'half of the rrsets'
  /** Only this many rrsets, SOA and apex NS first, in an otherwise complete response. */
  | { rrsets: number }
  | 'a gigabyte'

/** A PowerDNS Authoritative Server with zones in memory, which can simulate failures. */
export interface PowerDnsDouble extends PowerDns {
  url: string
  /** Received requests, such as `PATCH /zones/example.com.`. */
  requests: string[]
  /** Chooses a failure for a request; null for none. */
  trouble: (request: string) => Trouble | null | Promise<Trouble | null>
  stop(): void
}

export function powerDnsDouble(apiKey = 'key-of-the-double'): PowerDnsDouble {
  const here: PowerDnsDouble = Object.assign(
    powerDns(apiKey, () => Date.now()),
    { url: '', requests: [], trouble: () => null, stop: () => void server.stop(true) },
  )
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      const url = new URL(request.url)
      const path = url.pathname.replace(/^\/api\/v1/, '')
      const body = await request.text()
      const received = `${request.method} ${path.replace('/servers/localhost', '')}`
      here.requests.push(received)
      const trouble = await here.trouble(received)
      if (trouble === 'hang') return await never()
      if (trouble === 'cut connection') return cutBefore()
      if (trouble !== null && typeof trouble === 'object' && 'status' in trouble)
        return new Response(trouble.body ?? `{"error": "trouble"}`, { status: trouble.status, headers: trouble.headers ?? {} })
      if (trouble === 'a gigabyte') return endless()
      const answer = here.handle(request, body)
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

// An error in a stream closes the connection; the error itself would be printed.
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

/** Closes the connection instead of responding. */
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

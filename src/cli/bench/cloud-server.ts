import type { Command } from 'commander'

const europe = ['fsn1', 'nbg1', 'hel1']
const price = (gross: string) => ({ net: gross, gross })
const inEurope = <T extends object>(more: T) => europe.map(location => ({ location, ...more }))

/** A project with this many servers, as far as the API of Hetzner Cloud shows it. */
const listsOf = (servers: number): Record<string, object[]> => ({
  servers: Array.from({ length: servers }, (_, n) => cloudServerRow(n)),
  locations: europe.map((name, n) => ({ id: n + 1, name, description: name, country: 'DE', city: name })),
  server_types: [type],
  images: [image],
  networks: [],
})

const type = {
  ...{ id: 104, name: 'cx22', description: 'CX22', cores: 2, memory: 4, disk: 40, cpu_type: 'shared', architecture: 'x86' },
  locations: europe.map(name => ({ name, available: true, deprecation: null })),
  prices: inEurope({ price_monthly: price('4.5101'), price_hourly: price('0.0072') }),
}

const image = {
  ...{ id: 114690387, type: 'system', status: 'available', name: 'debian-12', description: 'Debian 12' },
  ...{ os_flavor: 'debian', os_version: '12', architecture: 'x86', disk_size: 5, deprecated: null, rapid_deploy: true },
}

const pricing = {
  ...{ currency: 'EUR', vat_rate: '19.00', server_backup: { percentage: '20.00' } },
  primary_ips: [{ type: 'ipv4', prices: inEurope({ price_monthly: price('0.595'), price_hourly: price('0.001') }) }],
  volume: { price_per_gb_month: price('0.0524') },
  image: { price_per_gb_month: price('0.0131') },
}

/** The server with a number, which determines its labels. */
export function cloudServerRow(n: number): object {
  const location = { id: (n % 3) + 1, name: europe[n % 3], description: '', country: 'DE', city: '' }
  const ipv4 = `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`
  return {
    ...{ id: n + 1, name: `server-${n}`, status: n % 10 === 0 ? 'off' : 'running', created: '2026-01-01T00:00:00+00:00' },
    ...{
      server_type: type,
      image,
      location,
      datacenter: { id: 1, name: 'dc1', description: '', location },
      primary_disk_size: 40,
    },
    labels: { role: n % 2 === 0 ? 'web' : 'db', group: `g${n % 100}` },
    public_net: {
      ipv4: { id: n, ip: ipv4, blocked: false, dns_ptr: `static.${n}.example.com` },
      ipv6: { id: n, ip: `2001:db8:${n.toString(16)}::/64`, blocked: false, dns_ptr: [] },
      ...{ floating_ips: [], firewalls: [] },
    },
    ...{ private_net: [], volumes: [], load_balancers: [], iso: null, locked: false, rescue_enabled: false, backup_window: null },
    ...{ protection: { delete: false, rebuild: false }, placement_group: null, included_traffic: 2 ** 44, ingoing_traffic: 0 },
  }
}

/** The cloud of `bench servers`, in a separate process. `/count` returns the number of requests so far. */
export function addCloudServer(bench: Command): void {
  bench.command('cloud-server <servers>', { hidden: true }).action(async (servers: string) => {
    const lists = listsOf(Number(servers))
    let requests = 0
    const server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: ({ url }) => {
        const { pathname, searchParams } = new URL(url)
        if (pathname === '/count') return Response.json(requests)
        requests++
        const [, name = ''] = /^\/v1\/(\w+)$/.exec(pathname) ?? []
        if (name === 'pricing') return Response.json({ pricing })
        const all = lists[name]
        if (!all) return Response.json({ error: { code: 'not_found', message: 'not found' } }, { status: 404 })
        const [page, per_page] = ['page', 'per_page'].map(one => Number(searchParams.get(one))) as [number, number]
        const last_page = Math.max(1, Math.ceil(all.length / per_page))
        const pagination = { page, per_page, total_entries: all.length, last_page, previous_page: null, next_page: null }
        return Response.json({ [name]: all.slice((page - 1) * per_page, page * per_page), meta: { pagination } })
      },
    })
    console.log(`listening on http://127.0.0.1:${server.port}`)
    await new Promise<void>(resolve => process.once('SIGTERM', () => resolve()))
    await server.stop(true)
  })
}

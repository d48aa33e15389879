import { isIPv4, isIPv6 } from 'node:net'

/** An error response. */
export class DigitalOceanRefused extends Error {
  constructor(
    readonly status: number,
    readonly id: string,
    message: string,
  ) {
    super(message)
  }
}

/** A record as in responses. */
export interface DigitalOceanRow {
  id: number
  type: string
  name: string
  data: string
  priority: number | null
  port: number | null
  ttl: number
  weight: number | null
  flags: number | null
  tag: string | null
}

export const unprocessable = (message: string) => new DigitalOceanRefused(422, 'unprocessable_entity', message)

export const notFound = () => new DigitalOceanRefused(404, 'not_found', 'The resource you were accessing could not be found.')

const fields = ['id', 'type', 'name', 'data', 'priority', 'port', 'ttl', 'weight', 'flags', 'tag']

/** Records of a domain, with the rules of the API. */
export class DigitalOceanDomain {
  rows: DigitalOceanRow[] = []
  readonly ttl = 1800
  #lastId = 28_448_428

  constructor(readonly name: string) {
    for (const data of ['ns1', 'ns2', 'ns3']) this.create({ type: 'NS', name: '@', data: `${data}.digitalocean.com.` })
    this.rows.unshift({ ...this.rows[0]!, id: ++this.#lastId, type: 'SOA', data: '1800', ttl: 1800 })
  }

  create(body: unknown): DigitalOceanRow {
    const row = this.#checked(body, ++this.#lastId)
    this.rows.push(row)
    return row
  }

  get(id: number): DigitalOceanRow {
    const row = this.rows.find(one => one.id === id)
    if (!row) throw notFound()
    return row
  }

  update(id: number, body: unknown): DigitalOceanRow {
    const before = this.get(id)
    const row = this.#checked({ ...before, ...(body as object) }, id, !('data' in (body as object)))
    if (row.type !== before.type) throw unprocessable('Type can not be changed')
    this.rows = this.rows.map(one => (one === before ? row : one))
    return row
  }

  delete(id: number): void {
    const row = this.get(id)
    if (row.type === 'SOA') throw unprocessable('SOA records can not be deleted')
    this.rows = this.rows.filter(one => one !== row)
  }

  /** @param keepsData the data is not from the request */
  #checked(body: unknown, id: number, keepsData = false): DigitalOceanRow {
    if (typeof body !== 'object' || body === null) throw unprocessable('Invalid JSON')
    const given = body as Record<string, any>
    for (const field of Object.keys(given)) if (!fields.includes(field)) throw unprocessable(`${field} is not an attribute`)
    const { type, name = '@', data, ttl = this.ttl } = given
    if (type === 'SOA' && keepsData) return { ...(given as DigitalOceanRow), id }
    const check = checks[type as string]
    if (!check) throw unprocessable('Type is not included in the list')
    if (typeof name !== 'string' || !/^(?:@|(?:\*|[a-z0-9_-]{1,63})(?:\.[a-z0-9_-]{1,63})*)$/i.test(name))
      throw unprocessable(
        "Name Only valid hostname characters are allowed. (a-z, A-Z, 0-9, ., _ and -) Or a single record of '@'.",
      )
    if (typeof data !== 'string' || data === '') throw unprocessable("Data can't be blank")
    if (!Number.isInteger(ttl) || ttl < 30) throw unprocessable('Ttl must be greater than or equal to 30')
    const row: DigitalOceanRow = {
      ...{ id, type, name: name.toLowerCase(), ttl, port: null, priority: null, weight: null, flags: null, tag: null },
      ...check(keepsData ? { ...given, data: `${data}${/^(?:CNAME|NS|MX|SRV|CAA)$/.test(type) ? '.' : ''}` } : given, this.name),
    }
    this.#refuseClash(row)
    return row
  }

  #refuseClash(row: DigitalOceanRow): void {
    const others = this.rows.filter(one => one.name === row.name && one.id !== row.id && one.type !== 'SOA')
    const content = ({ type, data, priority, port, weight, flags, tag }: DigitalOceanRow) =>
      JSON.stringify([type, data, priority, port, weight, flags, tag])
    if (others.some(one => content(one) === content(row))) throw unprocessable('Record already exists')
    if (row.type === 'CNAME' ? others.length > 0 : others.some(one => one.type === 'CNAME'))
      throw unprocessable('CNAME records cannot share a name with other records')
  }
}

type Values = Partial<DigitalOceanRow> & { data: string }

const number = (value: unknown, field: string, most: number): number => {
  if (!Number.isInteger(value) || (value as number) < 0 || (value as number) > most)
    throw unprocessable(`${field} is not a number from 0 to ${most}`)
  return value as number
}

/** Names must be absolute, and are returned without the dot; `@` is the domain. */
const hostname = (data: string, domain: string): string => {
  if (data === '@') return data
  if (!data.endsWith('.')) throw unprocessable('Data needs to end with a dot (.)')
  if (data !== '.' && !/^(?:[\w*-]{1,63}\.)+$/.test(data)) throw unprocessable('Data is not a valid hostname')
  const name = data === '.' ? data : data.slice(0, -1)
  return name.toLowerCase() === domain ? '@' : name
}

const pointing = ({ data }: any, domain: string): Values => {
  if (data === '.') throw unprocessable('Data is not a valid hostname')
  return { data: hostname(data, domain) }
}

const checks: Record<string, (given: any, domain: string) => Values> = {
  __proto__: null!,
  A({ data }) {
    if (!isIPv4(data)) throw unprocessable('IP address did not match IPv4 format (e.g. 127.0.0.1).')
    return { data }
  },
  AAAA({ data }) {
    if (!isIPv6(data)) throw unprocessable('IP address did not match IPv6 format.')
    return { data }
  },
  CNAME: pointing,
  NS: pointing,
  MX: (given, domain) => ({ ...pointing(given, domain), priority: number(given.priority, 'Priority', 65_535) }),
  SRV: (given, domain) => ({
    data: hostname(given.data, domain),
    priority: number(given.priority, 'Priority', 65_535),
    weight: number(given.weight, 'Weight', 65_535),
    port: number(given.port, 'Port', 65_535),
  }),
  CAA({ data, flags, tag }) {
    if (!['issue', 'issuewild', 'iodef'].includes(tag)) throw unprocessable('Tag must be issue, issuewild, or iodef')
    if (/\s/.test(data)) throw unprocessable('Data must not contain spaces')
    if (tag !== 'iodef' && !data.endsWith('.')) throw unprocessable('Data needs to end with a dot (.)')
    return { data: data.replace(/\.$/, ''), flags: number(flags, 'Flags', 255), tag }
  },
  TXT({ data }) {
    // The limit applies to the encoded text.
    const encoded = `"${[...Buffer.from(data)].map(octet => (octet === 34 ? '\\"' : octet < 32 || octet > 126 ? `\\${octet}` : String.fromCharCode(octet))).join('')}"`
    if (encoded.length > 512) throw unprocessable('Data is too long (maximum is 512 characters)')
    // Enclosing quotes and escapes are interpreted.
    return { data: data.replace(/^"(.*)"$/s, '$1').replaceAll(/\\(.)/gs, '$1') }
  },
}

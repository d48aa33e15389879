import { sshKeys } from '../ssh-keys'

/** What a cloud has, seen from its own side. */
export interface Machine {
  ref: string
  name: string
  /** Id of the server that it was created for; null for others. */
  mark: string | null
}

interface Order {
  name: string
  key: string
  /** Set by the response. */
  id: string | null
  isPending: boolean
}

interface Scale {
  /** Number of servers to create. */
  servers: number
  /** What each is created with. */
  order: object
  /** Power actions to choose from. */
  actions: readonly string[]
  /** What volumes are created with; null to create neither volumes nor snapshots. */
  volumes: object | null
}

/** Creates servers, acts on them, and deletes them, at hubs that are killed meanwhile. */
export class FleetTraffic {
  readonly orders: Order[] = []
  readonly volumes: Order[] = []
  /** Responses that a killed hub doesn’t explain. */
  readonly unexpected: string[] = []
  readonly counts = { created: 0, acted: 0, deleted: 0, overCap: 0, syncs: 0, stored: 0 }
  #hubs: string[] = []
  #isRunning = false
  #workers: Promise<void>[] = []
  #syncedAt = 0

  constructor(
    private readonly token: string,
    private readonly accountId: string,
    private readonly scale: Scale,
    private readonly random: () => number,
  ) {}

  /** Servers whose creation was acknowledged. */
  get acknowledged(): Order[] {
    return this.orders.filter(one => one.id !== null)
  }

  get isComplete(): boolean {
    return this.acknowledged.length >= this.scale.servers
  }

  /** Starts or continues with these hubs. */
  resume(urls: string[]): void {
    this.#hubs = urls
    if (this.#isRunning) return
    this.#isRunning = true
    this.#workers = Array.from({ length: 6 }, () => this.#work())
  }

  async pause(): Promise<void> {
    this.#isRunning = false
    await Promise.all(this.#workers)
  }

  /** Calls a hub; null if it doesn’t respond. */
  async call(method: string, path: string, body?: object, headers: Record<string, string> = {}): Promise<Answer | null> {
    const url = this.#hubs[Math.floor(this.random() * this.#hubs.length)]
    if (url === undefined) return null
    try {
      const response = await fetch(url + path, {
        method,
        headers: { authorization: `Bearer ${this.token}`, ...(body && { 'content-type': 'application/json' }), ...headers },
        ...(body && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(20_000),
      })
      const text = await response.text()
      return { status: response.status, body: text === '' ? null : JSON.parse(text) }
    } catch {
      return null
    }
  }

  async #work(): Promise<void> {
    while (this.#isRunning) {
      const chance = this.random()
      if (chance < 0.3 && !this.isComplete) await this.#create()
      else if (chance < 0.35) await this.#sync()
      else if (chance < 0.5 && this.scale.volumes) await this.#store(this.scale.volumes)
      else if (chance < 0.8) await this.#act()
      else await this.#delete()
      await Bun.sleep(this.random() * 150)
    }
  }

  async #create(): Promise<void> {
    const order = nextOf(this.orders, this.scale.servers)
    if (!order) return
    const isDraft = Number(order.name.split('-')[1]) % 8 === 0
    const input = { ...this.scale.order, account_id: this.accountId, provision: !isDraft }
    if (await this.#place('/v1/servers', order, input)) this.counts.created++
  }

  /** Sends an order. Returns whether it was accepted. */
  async #place(path: string, order: Order, input: object): Promise<boolean> {
    order.isPending = true
    const answer = await this.call('POST', path, { ...input, name: order.name }, { 'Idempotency-Key': order.key })
    order.isPending = false
    if (answer?.status === 201) order.id = answer.body.id
    else if (answer && !isBusy(answer)) {
      // The response is final for this key.
      order.key = crypto.randomUUID()
      const { code } = answer.body ?? {}
      if (code === 'spend_cap_reached') this.counts.overCap++
      else if (code !== 'provider_failed') this.#isUnexpected(`POST ${path}`, answer)
    }
    return order.id !== null
  }

  /** Creates, attaches, detaches, and deletes volumes, and deletes snapshots. */
  async #store(input: object): Promise<void> {
    const chance = this.random()
    const order = chance < 0.3 ? nextOf(this.volumes, Math.ceil(this.scale.servers / 4)) : null
    if (order) return void (await this.#place('/v1/volumes', order, { ...input, account_id: this.accountId }))
    if (chance < 0.4) {
      const listed = await this.call('GET', '/v1/snapshots?limit=100')
      const found = this.#oneOf((listed?.body?.data ?? []) as { id: string }[])
      if (found) await this.#change('DELETE', `/v1/snapshots/${found.id}`)
      return
    }
    const volume = this.#oneOf(this.volumes.filter(one => one.id !== null))
    const server = this.#any()
    if (!volume || !server) return
    const path = `/v1/volumes/${volume.id}`
    if (chance < 0.7) await this.#change('POST', `${path}/actions`, { action: 'attach', params: { server_id: server.id } })
    else if (chance < 0.9) await this.#change('POST', `${path}/actions`, { action: 'detach', params: { force: true } })
    else await this.#change('DELETE', path)
  }

  async #change(method: string, path: string, body?: object): Promise<void> {
    const answer = await this.call(method, path, body)
    // Volumes can be attached only to servers that exist.
    const isWithoutServer = answer?.body?.errors?.[0]?.pointer === '#/params/server_id'
    if (answer?.status === 202) this.counts.stored++
    else if (answer && answer.status !== 204 && !isWithoutServer && !this.#isRefusal(answer))
      this.#isUnexpected(`${method} ${path}`, answer)
  }

  async #sync(): Promise<void> {
    // Ten a minute are allowed.
    if (performance.now() < this.#syncedAt + 7000) return
    this.#syncedAt = performance.now()
    this.counts.syncs++
    const answer = await this.call('POST', `/v1/cloud-accounts/${this.accountId}/sync`)
    if (answer && answer.status !== 202 && answer.status !== 429 && !isBusy(answer)) this.#isUnexpected('sync', answer)
  }

  async #act(): Promise<void> {
    const server = this.#any()
    if (!server) return
    const { actions, order } = this.scale
    const action = actions[Math.floor(this.random() * actions.length)]!
    const isDraft = action === 'provision'
    const { max_monthly_price, currency } = order as Record<string, unknown>
    const costs = isDraft || action === 'snapshot'
    const params = {
      ...(costs && max_monthly_price !== undefined && { max_monthly_price, currency }),
      ...(action === 'snapshot' && { name: 'kill' }),
    }
    const answer = await this.call('POST', `/v1/servers/${server.id}/actions`, { action, params })
    if (answer?.status === 202) this.counts.acted++
    else if (answer && !this.#isRefusal(answer)) this.#isUnexpected(action, answer)
  }

  async #delete(): Promise<void> {
    const server = this.#any()
    if (!server) return
    const answer = await this.call('DELETE', `/v1/servers/${server.id}?at_provider=destroy`)
    if (answer?.status === 202) this.counts.deleted++
    // A draft is deleted at once.
    else if (answer && answer.status !== 204 && !this.#isRefusal(answer)) this.#isUnexpected('deletion', answer)
  }

  #any(): Order | undefined {
    return this.#oneOf(this.acknowledged)
  }

  #oneOf<T>(all: readonly T[]): T | undefined {
    return all[Math.floor(this.random() * all.length)]
  }

  /** Whether an answer only says that the server is in another status, is gone, or is busy. */
  #isRefusal(answer: Answer): boolean {
    const { code } = answer.body ?? {}
    if (code === 'spend_cap_reached') this.counts.overCap++
    return isBusy(answer) || ['conflict', 'not_found', 'spend_cap_reached', 'provider_failed'].includes(code)
  }

  #isUnexpected(what: string, { status, body }: Answer): void {
    this.unexpected.push(`${what} returned ${status}: ${JSON.stringify(body).slice(0, 300)}`)
  }
}

/** An order that was not accepted yet, or a new one if there are fewer than `max`. */
function nextOf(orders: Order[], max: number): Order | null {
  const open = orders.find(one => one.id === null && !one.isPending)
  if (open) return open
  if (orders.length >= max) return null
  const order = { name: `kill-${orders.length}`, key: crypto.randomUUID(), id: null, isPending: false }
  orders.push(order)
  return order
}

interface Answer {
  status: number
  body: any
}

const isBusy = ({ status, body }: Answer): boolean =>
  status === 503 || ['resource_locked', 'idempotency_in_progress', 'try_again'].includes(body?.code)

/** The order of a server at the double of Hetzner. */
export const hetznerOrder = {
  location: 'fsn1',
  size: 'cx22',
  image: 'debian-12',
  ssh_keys: [sshKeys.ed25519.text],
  max_monthly_price: '20',
  currency: 'EUR',
}

/** The order of a volume at the double of Hetzner. */
export const hetznerVolume = { location: 'fsn1', size_bytes: 10 * 2 ** 30, max_monthly_price: '20', currency: 'EUR' }

/** The order of a server at the double of Proxmox, with a template 9000. */
export const proxmoxOrder = {
  location: 'pve1',
  size: { cores: 1, memory_bytes: 2 ** 30, disk_bytes: 10 * 2 ** 30 },
  image: '9000',
  ssh_keys: [sshKeys.ed25519.text],
}

/** The order of a server at Incus. */
export const incusOrder = { size: { cores: 1, memory_bytes: 2 ** 27, disk_bytes: 2 ** 30 }, image: 'one' }

/** Server as stored, with what matters here. */
export interface StoredServer {
  id: string
  name: string
  status: string
  /** PostgreSQL’s driver returns it as a number. */
  provider_ref: string | number | null
  price_micros: number | null
  action_id: string | null
  deleted_at: number | null
}

/** Volume or snapshot as stored, with what matters here. */
export interface StoredStorage {
  id: string
  name: string
  state: string
  /** PostgreSQL’s driver returns it as a number. */
  provider_ref: string | number | null
  price_micros: number | null
  action_id: string | null
}

/** Differences between the volumes or snapshots of an account and those at its cloud. */
export function storageDifferences(rows: readonly StoredStorage[], machines: readonly Machine[]): string[] {
  const found: string[] = []
  for (const { id, name, state, provider_ref: ref, action_id: action } of rows) {
    const own = machines.filter(one => one.mark === id)
    const wanted = state === 'error' ? 0 : 1
    if (own.length !== wanted) found.push(`${id} (${name}) is ${state} and exists ${own.length} times`)
    else if (own[0] && own[0].ref !== String(ref))
      found.push(`${id} (${name}) has the ref ${ref}, at the cloud it is ${own[0].ref}`)
    if (action !== null) found.push(`${id} (${name}) waits for the action ${action}`)
  }
  const ids = new Set(rows.map(one => one.id))
  for (const { name, ref, mark } of machines)
    if (mark === null || !ids.has(mark)) found.push(`${name} (${ref}) with the mark ${mark} at the cloud is not known here`)
  return found
}

/** Differences between the servers of an account and the machines at its cloud. */
export function differences(servers: readonly StoredServer[], machines: readonly Machine[]): string[] {
  const found: string[] = []
  const live = servers.filter(one => one.deleted_at === null)
  for (const server of live) {
    const own = machines.filter(one => one.mark === server.id)
    const wanted = server.status === 'draft' ? 0 : 1
    if (own.length !== wanted) found.push(`${server.name} is ${server.status} and has ${own.length} machines`)
    else if (own[0] && own[0].ref !== String(server.provider_ref))
      found.push(`${server.name} has the ref ${server.provider_ref}, its machine is ${own[0].ref}`)
    if (server.action_id !== null) found.push(`${server.name} waits for the action ${server.action_id}`)
  }
  const ids = new Set(live.map(one => one.id))
  for (const { name, ref, mark } of machines)
    if (mark === null || !ids.has(mark)) found.push(`the machine ${name} (${ref}) with the mark ${mark} belongs to no server`)
  return found
}

import { systemClock, type Clock } from '../../../src/core/clock'
import type { ApiRequest, ApiResponse } from '../api-double'
import { HetznerApiDouble } from '../hetzner-api-double'
import { HetznerRefused, invalidInput, notFound } from '../hetzner-refused'
import { actionRoutes } from './hetzner-actions'
import { catalogRoutes } from './hetzner-catalog-routes'
import type { HetznerServerType } from './hetzner-catalog'
import { firewallRoutes } from './hetzner-firewalls'
import { HetznerProject, type HetznerServer } from './hetzner-project'
import type { Routes } from './hetzner-routes'
import { bodyOffence, isPath, operationOf, queryOffence, responseOffence } from './hetzner-schema'
import { createServer, serverRoutes, type ServerDraft } from './hetzner-servers'
import { volumeRoutes } from './hetzner-volumes'

const perHour = 3600

/**
 * A project at Hetzner Cloud, with servers, volumes, and firewalls, on a free local port. All requests and responses must be as the published API description says;
 * {@link offences} has those that are not.
 */
export class HetznerCloudDouble extends HetznerApiDouble {
  readonly project: HetznerProject
  /** Requests and responses that violate the API description. */
  readonly offences: string[] = []
  /** Requests that are left. One is added every second. */
  remaining = perHour
  #refilledAt: number
  readonly #routes: Routes

  /** @param clock the one of the test, on which actions take time */
  constructor(readonly clock: Clock = systemClock) {
    super()
    this.project = new HetznerProject(clock)
    this.#refilledAt = clock.now()
    const areas = [serverRoutes, catalogRoutes, volumeRoutes, firewallRoutes, actionRoutes]
    this.#routes = Object.assign({}, ...areas.map(routes => routes(this.project)))
  }

  /** Adds a server, as if someone had created it in the console. It is running. */
  addServer(draft: Partial<ServerDraft> & { name: string }): HetznerServer {
    const { server } = createServer(this.project, { server_type: 'cx22', image: 'debian-12', location: 'fsn1', ...draft })
    this.project.settle()
    return server
  }

  serverNamed(name: string): HetznerServer | undefined {
    this.project.settle()
    return [...this.project.servers.values()].find(one => one.name === name)
  }

  /** What a person does in the console. */
  readonly console = {
    rename: (server: HetznerServer, name: string): void => void (server.name = name),
    relabel: (server: HetznerServer, labels: Record<string, string>): void => void (server.labels = labels),
    powerOff: (server: HetznerServer): void => void (server.status = 'off'),
    powerOn: (server: HetznerServer): void => void (server.status = 'running'),
    resize: (server: HetznerServer, type: string): void => void (server.type = this.project.serverType(type)),
    delete: (server: HetznerServer): void => this.project.remove(server),
  }

  /** The monthly price of everything that exists, with VAT. */
  bill(): { monthlyMicros: number; currency: string } {
    this.project.settle()
    let monthlyMicros = 0
    for (const { type, location, backupWindow } of this.project.servers.values()) {
      const price = micros(placeOf(type, location).price_monthly.gross)
      const percentage = backupWindow === null ? 0 : Number(this.project.prices.backupPercentage)
      monthlyMicros += price + Math.round((price * percentage) / 100)
    }
    for (const { type } of this.project.primaryIps.values())
      if (type === 'ipv4') monthlyMicros += micros(this.project.prices.ipv4.gross)
    for (const { size } of this.project.volumes.values())
      monthlyMicros += Math.round(size * micros(this.project.prices.volumePerGb.gross))
    for (const { type, image_size } of this.project.images.values())
      if (type === 'snapshot') monthlyMicros += Math.round((image_size ?? 0) * micros(this.project.prices.imagePerGb.gross))
    return { monthlyMicros, currency: 'EUR' }
  }

  /** Changes the price of a server type everywhere. @param factor such as 1.1 */
  raisePrice(type: string, factor: number): void {
    for (const { price_monthly: price } of this.project.serverType(type).locations)
      Object.assign(price, {
        net: (Number(price.net) * factor).toFixed(10),
        gross: (Number(price.gross) * factor).toFixed(16),
      })
  }

  /** Sets whether a type is in stock in a location. */
  stock(type: string, location: string, available: boolean): void {
    placeOf(this.project.serverType(type), location).available = available
  }

  protected override answer(request: ApiRequest, fault: Parameters<HetznerApiDouble['answer']>[1]): ApiResponse {
    this.project.settle()
    this.#refill()
    const isThrottled = this.remaining < 1
    if (!isThrottled) this.remaining--
    const operation = operationOf(request)
    const response = super.answer(request, isThrottled ? 'throttled' : fault)
    const offence = responseOffence(operation, response)
    // Paths of the API that no operation in the extract describes.
    if (offence && (operation !== null || response.status < 400)) this.#offended(request, `response ${offence}`)
    const left = response.status === 429 ? 0 : Math.floor(this.remaining)
    const resetAt = Math.ceil(this.clock.now() / 1000) + perHour - left
    return {
      ...response,
      headers: { 'RateLimit-Limit': String(perHour), 'RateLimit-Remaining': String(left), 'RateLimit-Reset': String(resetAt) },
    }
  }

  protected route(request: ApiRequest): ApiResponse {
    const { path, query, body } = request
    // Removed on October 1, 2026 (docs.hetzner.cloud/changelog).
    if (path.startsWith('/datacenters')) throw new HetznerRefused(410, 'deprecated_api_endpoint', 'endpoint was removed')
    const operation = operationOf(request)
    if (operation === null && isPath(path)) throw new HetznerRefused(405, 'method_not_allowed', 'method not allowed')
    const act = operation === null ? undefined : this.#routes[operation]
    if (operation === null || !act) throw notFound(path)
    const wrongQuery = queryOffence(operation, query)
    if (wrongQuery) this.#offended(request, wrongQuery)
    const wrongBody = bodyOffence(operation, body)
    if (wrongBody) {
      this.#offended(request, wrongBody)
      throw invalidInput('body', wrongBody)
    }
    const ids = [...path.matchAll(/\/(\d+)(?=\/|$)/g)].map(one => Number(one[1]))
    return act({
      ...{ query, body, ids, request },
      listed: (member, rows, shown) => this.listed(request, member, rows, 50, shown),
    })
  }

  #offended({ method, path, query }: ApiRequest, offence: string): void {
    this.offences.push(`${method} ${path}${query.size > 0 ? `?${query}` : ''}: ${offence}`)
  }

  #refill(): void {
    const now = this.clock.now()
    this.remaining = Math.min(Math.max(perHour, this.remaining), this.remaining + (now - this.#refilledAt) / 1000)
    this.#refilledAt = now
  }
}

const placeOf = (type: HetznerServerType, location: string): HetznerServerType['locations'][number] =>
  type.locations.find(one => one.name === location)!

const micros = (text: string): number => Math.round(Number(text) * 1_000_000)

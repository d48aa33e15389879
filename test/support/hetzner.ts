import type { ApiRequest, ApiResponse } from './api-double'
import { HetznerApiDouble } from './hetzner-api-double'
import { HetznerRefused, invalidInput, notFound } from './hetzner-refused'
import { HetznerZone, onlyFields } from './hetzner-zone'

/** The zone API of Hetzner Cloud for one project, on a free local port. */
export class HetznerDouble extends HetznerApiDouble {
  readonly zones: HetznerZone[] = []
  /** Whether actions are finished in the response to the change; otherwise when they are read. */
  finishesAtOnce = false
  /** How often an action is still running when it is read. */
  runningReads = 0
  /** Error of all actions, which then change nothing. */
  actionError: { code: string; message: string } | null = null
  /** How many reads don't find a new zone yet. */
  missingReads = 0
  readonly #actions = new Map<number, { reads: number; action: Record<string, unknown> }>()
  #lastId = 1000

  zone(name: string, mode?: 'primary' | 'secondary'): HetznerZone {
    const zone = new HetznerZone(++this.#lastId, name, mode)
    this.zones.push(zone)
    return zone
  }

  protected route(request: ApiRequest): ApiResponse {
    const { method, path, query, body } = request
    const [, first, zoneRef, rrsets, name, type, actions, command] = path.split('/').map(decodeURIComponent)
    if (first === 'actions' && method === 'GET') return { status: 200, body: { action: this.#readAction(Number(zoneRef)) } }
    if (first !== 'zones') throw notFound(path)
    if (zoneRef === undefined) {
      if (method === 'POST') return this.#createZone(body)
      const rows = () =>
        this.zones.filter(one => !query.has('name') || one.name === query.get('name')).map(one => ({ ...this.#zoneShown(one) }))
      return this.listed(request, 'zones', rows, 50)
    }
    const zone = this.zones.find(one => String(one.id) === zoneRef || one.name === zoneRef)
    if (!zone || (method === 'GET' && this.missingReads > 0 && this.missingReads-- > 0))
      throw notFound(`zone with ID '${zoneRef}'`)
    if (rrsets === undefined) {
      if (method === 'GET') return { status: 200, body: { zone: this.#zoneShown(zone) } }
      if (method !== 'DELETE') throw notFound(path)
      this.zones.splice(this.zones.indexOf(zone), 1)
      return this.#act(zone, 'delete_zone', () => {})
    }
    if (rrsets !== 'rrsets') throw notFound(path)
    if (name === undefined) {
      if (method === 'GET') return this.listed(request, 'rrsets', () => zone.list(query.get('name'), query.getAll('type')), 100)
      if (method === 'POST') return this.#act(zone, 'create_rrset', () => ({ rrset: zone.create(body) }))
    } else if (command !== undefined && method === 'POST' && actions === 'actions') {
      if (command === 'set_records') return this.#act(zone, command, () => zone.setRecords(name, type!, body))
      if (command === 'change_protection') return this.#act(zone, command, () => zone.changeProtection(name, type!, body))
      if (command === 'change_ttl') return this.#act(zone, command, () => zone.changeTtl(name, type!, body))
    } else if (command === undefined && actions === undefined) {
      if (method === 'GET') return { status: 200, body: { rrset: zone.get(name, type!) } }
      if (method === 'DELETE') return this.#act(zone, 'delete_rrset', () => zone.delete(name, type!))
      if (method === 'PUT') {
        if (body.records !== undefined) throw new HetznerRefused(422, 'invalid_input', "can't update records with this endpoint")
        const row = zone.get(name, type!)
        row.labels = onlyFields(body, ['labels'], ['labels']).labels
        return { status: 200, body: { rrset: row } }
      }
    }
    throw notFound(path)
  }

  #act(zone: HetznerZone, command: string, change: () => object | void): ApiResponse {
    const more = this.actionError ? {} : (change() ?? {})
    const started = { id: ++this.#lastId, command, started: now(), resources: [{ id: zone.id, type: 'zone' }] }
    const running = { ...started, status: 'running', progress: 0, finished: null, error: null }
    const finished = { ...started, progress: 100, finished: now(), status: 'success', error: null }
    const failed = { ...finished, status: 'error', error: this.actionError }
    const action = this.actionError ? failed : finished
    this.#actions.set(started.id, { reads: this.runningReads, action })
    return { status: 201, body: { action: this.finishesAtOnce ? action : running, ...more } }
  }

  #readAction(id: number): object {
    const known = this.#actions.get(id)
    if (!known) throw notFound(`action with ID '${id}'`)
    const { action } = known
    return known.reads-- > 0 ? { ...action, status: 'running', progress: 50, finished: null, error: null } : action
  }

  #createZone(body: unknown): ApiResponse {
    const { name, mode } = onlyFields(
      body,
      ['name', 'mode', 'ttl', 'labels', 'primary_nameservers', 'rrsets', 'zonefile'],
      ['name', 'mode'],
    )
    if (mode !== 'primary') throw invalidInput('mode', 'The double creates only primary zones.')
    // Stands for the list of public suffixes.
    if (typeof name !== 'string' || !/^[a-z0-9-]+\.[a-z]+$/.test(name))
      throw invalidInput('name', 'Must be a registrable domain. Subdomains are not supported.')
    if (this.zones.some(one => one.name === name))
      throw new HetznerRefused(409, 'uniqueness_error', `zone with name '${name}' already exists`)
    const zone = this.zone(name)
    return this.#act(zone, 'create_zone', () => ({ zone: this.#zoneShown(zone) }))
  }

  #zoneShown({ id, name, mode, ttl, rows }: HetznerZone): object {
    return {
      ...{ id, name, mode, ttl, labels: {}, protection: { delete: false }, status: 'ok', registrar: 'other' },
      created: '2026-01-01T00:00:00Z',
      record_count: rows.reduce((sum, one) => sum + one.records.length, 0),
      primary_nameservers: mode === 'secondary' ? [{ address: '192.0.2.53', port: 53 }] : [],
      authoritative_nameservers: {
        assigned: ['hydrogen.ns.hetzner.com.', 'oxygen.ns.hetzner.com.', 'helium.ns.hetzner.de.'],
        delegated: [],
        delegation_last_check: null,
        delegation_status: 'unknown',
      },
    }
  }
}

const now = () => new Date().toISOString()

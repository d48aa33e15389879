import type { ApiRequest, ApiResponse } from '../api-double'
import type { HetznerAction, HetznerProject } from './hetzner-project'
import { time } from './hetzner-project'

export interface Call {
  query: URLSearchParams
  body: any
  /** Ids in the path, in order. */
  ids: number[]
  /** A page of a list. */
  listed<R>(member: string, rows: () => readonly R[], shown: (row: R) => unknown): ApiResponse
  request: ApiRequest
}

/** What operations of the API do, by their method and path. */
export type Routes = Record<string, (call: Call) => ApiResponse>

export const ok = (body: object): ApiResponse => ({ status: 200, body })
export const created = (body: object): ApiResponse => ({ status: 201, body })

export function actionShown(project: HetznerProject, action: HetznerAction): object {
  const { id, command, startedAt, endsAt, resources, error } = action
  const isRunning = project.isRunning(action)
  const now = project.clock.now()
  const progress = Math.min(95, Math.floor(((now - startedAt) / Math.max(1, endsAt - startedAt)) * 100))
  return {
    ...{ id, command, resources, started: time(startedAt) },
    status: isRunning ? 'running' : error ? 'error' : 'success',
    progress: isRunning ? progress : 100,
    finished: isRunning ? null : time(endsAt),
    error: isRunning ? null : error,
  }
}

/** Rows in the order of the `sort` parameters. By default, the latest is last. */
export function sorted<R extends { id: number }>(
  rows: R[],
  query: URLSearchParams,
  valueOf: (row: R, field: string) => string | number,
) {
  const orders = query.getAll('sort').map(one => one.split(':') as [string, string?])
  return rows.toSorted((a, b) => {
    for (const [field, direction] of orders) {
      const [one, other] = field === 'id' ? [a.id, b.id] : [valueOf(a, field), valueOf(b, field)]
      if (one !== other) return one < other === (direction !== 'desc') ? -1 : 1
    }
    return a.id - b.id
  })
}

/** A filter by a query parameter, which can be repeated. */
export const matches = (query: URLSearchParams, name: string, value: unknown): boolean =>
  !query.has(name) || query.getAll(name).includes(String(value))

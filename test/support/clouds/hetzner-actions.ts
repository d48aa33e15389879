import { notFound } from '../hetzner-refused'
import type { HetznerAction, HetznerProject } from './hetzner-project'
import { actionShown, matches, ok, sorted, type Call, type Routes } from './hetzner-routes'
import { invalidInput } from '../hetzner-refused'

const resources = {
  servers: 'server',
  images: 'image',
  networks: 'network',
  primary_ips: 'primary_ip',
  volumes: 'volume',
  firewalls: 'firewall',
}

/** Actions, of all resources and of each. */
export function actionRoutes(project: HetznerProject): Routes {
  const shown = (action: HetznerAction) => actionShown(project, action)
  const found = (id: number, among: HetznerAction[] = [...project.actions.values()]) => {
    const action = among.find(one => one.id === id)
    if (!action) throw notFound(`action with ID '${id}'`)
    return ok({ action: shown(action) })
  }
  const list = (call: Call, actions: () => HetznerAction[]) =>
    call.listed(
      'actions',
      () => {
        const rows = actions().filter(
          one => matches(call.query, 'id', one.id) && matches(call.query, 'status', (shown(one) as { status: string }).status),
        )
        return sorted(rows, call.query, valueOf)
      },
      shown,
    )
  const ofResource = ([path, type]: [string, string]): Routes => ({
    [`GET /${path}/actions`]: call => list(call, () => project.actionsOf(type)),
    [`GET /${path}/actions/{id}`]: ({ ids }) => found(ids[0]!, project.actionsOf(type)),
    [`GET /${path}/{id}/actions`]: call => list(call, () => project.actionsOf(type, call.ids[0])),
    [`GET /${path}/{id}/actions/{action_id}`]: ({ ids }) => found(ids[1]!, project.actionsOf(type, ids[0])),
  })
  return Object.assign(
    {
      'GET /actions/{id}': ({ ids }: Call) => found(ids[0]!),
      'GET /actions': ({ query }: Call) => {
        const ids = query.getAll('id').map(Number)
        if (ids.length === 0) throw invalidInput('id', 'Missing data for required field.')
        return ok({ actions: ids.flatMap(id => project.actions.get(id) ?? []).map(shown) })
      },
    },
    ...Object.entries(resources).map(ofResource),
  )
}

const valueOf = ({ command, startedAt, endsAt }: HetznerAction, field: string): string | number =>
  field === 'command' ? command : field === 'started' ? startedAt : endsAt

import type { AnyElysia } from 'elysia'
import { area, route } from '../../api/route'
import { getInstallation, type StateOfHub } from './installation'
import { Installation } from './shapes'

/** @param stateOf returns what only the hub knows */
export const installationRoutes = (stateOf: StateOfHub): AnyElysia =>
  area('installation', 'Installation', [
    route({
      method: 'GET',
      path: '/v1/installation',
      guard: 'operator',
      operationId: 'getInstallation',
      summary: 'Get the state of the installation',
      description:
        'Returns problems of the installation with what to do, and the state of its hubs, database, disk, background jobs, mail ' +
        'server, backups, and keys.',
      response: Installation,
      run: ctx => getInstallation(ctx, stateOf),
    }),
  ])

import { Type } from '@sinclair/typebox'
import { crud } from '../../../api/crud'
import { area, route } from '../../../api/route'
import { Shape } from '../../../core/shapes'
import { getBuiltin, updateBuiltin } from './builtin'
import {
  BuiltinProvider,
  BuiltinProviderPatch,
  TsigKeyWithSecret,
  TsigKey,
  TsigKeyInput,
  TsigKeyList,
  ZoneTransferList,
} from './shapes'
import { listTransfers } from './transfer-log'
import { createTsigKey, deleteTsigKey, getTsigKey, listTsigKeys, tsigKeyListing } from './tsig-keys'

const read = 'dns.read'
const write = 'dns.write'
const builtin = '/v1/dns/providers/builtin'

export const transferRoutes = area('dns-transfers', 'DNS', [
  route({
    method: 'GET',
    path: builtin,
    guard: read,
    operationId: 'getBuiltinProvider',
    summary: 'Get the built-in name server',
    description:
      'Returns the built-in name server. In addition to the fields of other DNS providers, the response contains its secondaries, the catalog zone, and the TSIG keys that can transfer zones.',
    response: BuiltinProvider,
    run: ctx => getBuiltin(ctx),
  }),
  route({
    method: 'PATCH',
    path: builtin,
    guard: write,
    action: 'dns.builtin.update',
    operationId: 'updateBuiltinProvider',
    summary: 'Update the built-in name server',
    description:
      'Updates the given fields (JSON merge patch, RFC 7396). Secondaries receive a NOTIFY for each change, signed with their key, if the network ' +
      'policy of the workspace allows their address. The catalog zone can be transferred only with its own key.',
    body: BuiltinProviderPatch,
    response: BuiltinProvider,
    problems: ['already_exists', 'precondition_failed'],
    run: (ctx, { body }) => updateBuiltin(ctx, body),
  }),
  route({
    method: 'GET',
    path: `${builtin}/transfers`,
    guard: read,
    operationId: 'listZoneTransfers',
    summary: 'List zone transfers',
    description:
      'Lists the zone transfers of the last 90 days, newest first: only the latest transfer of each zone to each address with each key.',
    query: Shape({
      zone: Type.Optional(Type.String({ maxLength: 253, description: 'Only transfers of the zone with this name.' })),
    }),
    response: ZoneTransferList,
    run: (ctx, { query }) => listTransfers(ctx, query),
  }),
  ...crud({
    type: 'tsig_key',
    response: TsigKey,
    list: {
      description: 'Lists the TSIG keys of the workspace, without their secrets.',
      listing: tsigKeyListing,
      response: TsigKeyList,
      run: listTsigKeys,
    },
    create: {
      description:
        'Creates a TSIG key, with which other name servers sign their requests to the built-in name server. The secret is shown only once, in this response. A ' +
        'workspace can have up to 100 keys (409).',
      body: TsigKeyInput,
      response: TsigKeyWithSecret,
      secretFields: ['secret'],
      problems: ['already_exists', 'conflict'],
      run: createTsigKey,
    },
    get: {
      description: 'Returns a key without its secret.',
      run: getTsigKey,
    },
    delete: {
      description:
        'Deletes a TSIG key. Requests signed with it are rejected immediately. A key that is used in the settings of the built-in name server can’t be deleted (409).',
      problems: ['conflict'],
      isUnversioned: true,
      run: deleteTsigKey,
    },
  }),
])

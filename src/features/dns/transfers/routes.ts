import { Type } from '@sinclair/typebox'
import { area, route } from '../../../access/route'
import { listQuery } from '../../../core/list'
import { Shape } from '../../../core/shapes'
import { getBuiltin, updateBuiltin } from './builtin'
import { BuiltinProvider, BuiltinProviderPatch, NewTsigKey, TsigKey, TsigKeyInput, TsigKeyList, ZoneTransferList } from './shapes'
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
    summary: 'Read the built-in name server',
    description: 'To whom it gives the zones of the workspace: secondaries, the catalog zone, and keys that may transfer.',
    answer: BuiltinProvider,
    run: ctx => getBuiltin(ctx),
  }),
  route({
    method: 'PATCH',
    path: builtin,
    guard: write,
    action: 'dns.builtin.update',
    operationId: 'updateBuiltinProvider',
    summary: 'Edit the built-in name server',
    description:
      'Changes members (JSON merge patch, RFC 7396). Secondaries are told of each change by NOTIFY, signed with their key, at addresses ' +
      'that the network policy of the workspace allows. The catalog zone is served to holders of its key alone.',
    body: BuiltinProviderPatch,
    answer: BuiltinProvider,
    problems: ['already_exists', 'precondition_failed'],
    run: (ctx, { body }) => updateBuiltin(ctx, body),
  }),
  route({
    method: 'GET',
    path: `${builtin}/transfers`,
    guard: read,
    operationId: 'listZoneTransfers',
    summary: 'List zone transfers',
    description: 'The last transfer of each zone there is to each address by each key within 90 days, the latest first.',
    query: Shape({ zone: Type.Optional(Type.String({ maxLength: 253, description: 'Only those of the zone with this name.' })) }),
    answer: ZoneTransferList,
    run: (ctx, { query }) => listTransfers(ctx, query),
  }),
  route({
    method: 'GET',
    path: `${builtin}/tsig-keys`,
    guard: read,
    operationId: 'listTsigKeys',
    summary: 'List TSIG keys',
    description: 'Keys that other name servers sign with, without their secrets.',
    query: listQuery(tsigKeyListing),
    answer: TsigKeyList,
    run: (ctx, { query }) => listTsigKeys(ctx, query),
  }),
  route({
    method: 'POST',
    path: `${builtin}/tsig-keys`,
    guard: write,
    action: 'dns.tsig_key.create',
    operationId: 'createTsigKey',
    summary: 'Create a TSIG key',
    description: 'Makes a key. The answer is the only place where its secret is told.',
    body: TsigKeyInput,
    status: 201,
    answer: NewTsigKey,
    once: ['secret'],
    problems: ['already_exists', 'conflict'],
    run: (ctx, { body }) => createTsigKey(ctx, body),
  }),
  route({
    method: 'GET',
    path: `${builtin}/tsig-keys/:id`,
    guard: read,
    operationId: 'getTsigKey',
    summary: 'Read a TSIG key',
    description: 'A key without its secret.',
    answer: TsigKey,
    run: (ctx, { params }) => getTsigKey(ctx, params.id!),
  }),
  route({
    method: 'DELETE',
    path: `${builtin}/tsig-keys/:id`,
    guard: write,
    action: 'dns.tsig_key.delete',
    operationId: 'deleteTsigKey',
    summary: 'Delete a TSIG key',
    description: 'Whoever signs with it is refused from now on. A key that settings name stays.',
    status: 204,
    problems: ['conflict'],
    run: (ctx, { params }) => deleteTsigKey(ctx, params.id!),
  }),
])

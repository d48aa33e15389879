import { Type } from '@sinclair/typebox'
import { area, route } from '../../../api/route'
import { listQuery } from '../../../core/list'
import { getMember, listMembers, memberListing, removeMember, updateMember } from './members'
import { Member, MemberList, MemberPatch } from './shapes'

export const memberRoutes = area('members', 'Members', [
  route({
    method: 'GET',
    path: '/v1/members',
    guard: 'account.read',
    operationId: 'listMembers',
    summary: 'List members',
    description: 'Lists the members of the workspace, with their roles.',
    query: listQuery(memberListing),
    response: MemberList,
    run: (ctx, { query }) => listMembers(ctx, query),
  }),
  route({
    method: 'GET',
    path: '/v1/members/:id',
    guard: 'account.read',
    operationId: 'getMember',
    summary: 'Get a member',
    description: 'Returns a member of the workspace, by user ID.',
    response: Member,
    run: (ctx, { params }) => getMember(ctx, params.id!),
  }),
  route({
    method: 'PATCH',
    path: '/v1/members/:id',
    guard: 'account.write',
    action: 'account.member.update',
    operationId: 'updateMember',
    summary: 'Update a member',
    description:
      'Changes the role of a member, effective on their next request. You cannot assign, remove, or change a role above your ' +
      'own; tokens act as an admin. The last owner cannot be demoted (409).',
    body: MemberPatch,
    response: Member,
    problems: ['conflict'],
    run: (ctx, { params, body }) => updateMember(ctx, params.id!, body),
  }),
  route({
    method: 'DELETE',
    path: '/v1/members/:id',
    guard: 'account.write',
    action: 'account.member.remove',
    operationId: 'removeMember',
    summary: 'Remove a member',
    description:
      'Removes a member from the workspace immediately, ends their sessions that last used it, and revokes invitations they ' +
      'created. API tokens they created belong to the workspace and keep working; `revoke_tokens=true` also revokes these ' +
      'tokens, and tokens created with them. The last owner cannot be removed (409).',
    query: Type.Object(
      {
        revoke_tokens: Type.Optional(
          Type.Boolean({
            default: false,
            description: 'Also revoke the API tokens of the workspace that the member created, and tokens created with those.',
          }),
        ),
      },
      { additionalProperties: false },
    ),
    status: 204,
    problems: ['conflict'],
    run: (ctx, { params, query }) => removeMember(ctx, params.id!, { revokeTokens: query.revoke_tokens === true }),
  }),
])

import { Type } from '@sinclair/typebox'
import { crud } from '../../../api/crud'
import { area } from '../../../api/route'
import { Shape } from '../../../core/shapes'
import { getMember, listMembers, memberListing, removeMember, updateMember } from './members'
import { Member, MemberList, MemberPatch } from './shapes'

export const memberRoutes = area(
  'members',
  'Members',
  crud({
    type: 'user',
    name: 'member',
    action: 'account.member',
    response: Member,
    list: {
      description: 'Lists the members of the workspace, with their roles.',
      listing: memberListing,
      response: MemberList,
      run: listMembers,
    },
    get: { description: 'Returns a member of the workspace, by user ID.', run: getMember },
    update: {
      description:
        'Changes the role of a member, effective on their next request. You can’t assign, remove, or change a role above your ' +
        'own (403); tokens have the same rights as an admin. The last owner who can sign in can’t be demoted (409).',
      body: MemberPatch,
      problems: ['conflict'],
      run: updateMember,
    },
    delete: {
      operationId: 'removeMember',
      summary: 'Remove a member',
      action: 'account.member.remove',
      description:
        'Removes a member from the workspace immediately, ends their sessions that last used it, and revokes invitations they ' +
        'created. API tokens they created belong to the workspace and keep working; `revoke_tokens=true` also revokes these ' +
        'tokens, and tokens created with them. The last owner who can sign in can’t be removed, nor the last operator from their only workspace (409).',
      query: Shape({
        revoke_tokens: Type.Optional(
          Type.Boolean({
            default: false,
            description: 'Also revoke the API tokens of the workspace that the member created, and tokens created with those.',
          }),
        ),
      }),
      problems: ['conflict'],
      run: (ctx, id, query) => removeMember(ctx, id, { revokeTokens: query.revoke_tokens === true }),
    },
  }),
)

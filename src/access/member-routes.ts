import { Type } from '@sinclair/typebox'
import { listQuery } from '../core/list'
import { acceptInvitation, previewInvitation } from './acceptance'
import {
  Acceptance,
  Invitation,
  InvitationCode,
  InvitationInput,
  InvitationList,
  InvitationPreview,
  InvitationRenewal,
  NewInvitation,
} from './invitation-shapes'
import {
  createInvitation,
  deleteInvitation,
  getInvitation,
  invitationListing,
  listInvitations,
  renewInvitation,
} from './invitations'
import { Member, MemberList, MemberPatch } from './member-shapes'
import { getMember, listMembers, memberListing, removeMember, updateMember } from './members'
import { area, route } from './route'
import { setCookie } from './session-cookie'
import { Session } from './session-shapes'

export const memberRoutes = area('members', 'Members', [
  route({
    method: 'GET',
    path: '/v1/members',
    guard: 'account.read',
    operationId: 'listMembers',
    summary: 'List members',
    description: 'The people who belong to the workspace, with their roles.',
    query: listQuery(memberListing),
    answer: MemberList,
    run: (ctx, { query }) => listMembers(ctx, query),
  }),
  route({
    method: 'GET',
    path: '/v1/members/:id',
    guard: 'account.read',
    operationId: 'getMember',
    summary: 'Read a member',
    description: 'A person who belongs to the workspace, by the id of the user.',
    answer: Member,
    run: (ctx, { params }) => getMember(ctx, params.id!),
  }),
  route({
    method: 'PATCH',
    path: '/v1/members/:id',
    guard: 'account.write',
    action: 'account.member.update',
    operationId: 'updateMember',
    summary: 'Change a role',
    description:
      'Gives a member another role, which holds with their next request. Nobody gives, takes or changes a role above their own; ' +
      'a token acts as an admin. The last owner stays one (409).',
    body: MemberPatch,
    answer: Member,
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
      'Takes a person out of the workspace at once, ends sessions of theirs that were last in it, and withdraws invitations they made. ' +
      'API tokens they made belong to the workspace and go on working; `revoke_tokens=true` revokes those too, and what they made. ' +
      'The last owner stays (409).',
    query: Type.Object(
      {
        revoke_tokens: Type.Optional(
          Type.Boolean({
            default: false,
            description: 'Revokes the API tokens of the workspace that they made, and those that such tokens made.',
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

export const invitationRoutes = area('invitations', 'Members', [
  route({
    method: 'GET',
    path: '/v1/invitations',
    guard: 'account.read',
    operationId: 'listInvitations',
    summary: 'List invitations',
    description: 'Invitations to the workspace, those accepted and expired in the last 90 days included.',
    query: listQuery(invitationListing),
    answer: InvitationList,
    run: (ctx, { query }) => listInvitations(ctx, query),
  }),
  route({
    method: 'POST',
    path: '/v1/invitations',
    guard: 'account.write',
    action: 'account.invitation.create',
    operationId: 'createInvitation',
    summary: 'Invite a person',
    description:
      'Invites a person to the workspace. The answer is the only place where the code and the link are told: pass them on. Nobody ' +
      'invites to a role above their own. The answer does not depend on whether the e-mail has a login; where sign-up is closed ' +
      'and somebody but the operator invites, its `note` says that only who has a login can accept. Where the installation has a mail ' +
      'server the link is mailed too, unless `send` is false.',
    body: InvitationInput,
    status: 201,
    answer: NewInvitation,
    once: ['code', 'link'],
    problems: ['already_exists', 'conflict', 'mail_not_set_up'],
    run: (ctx, { body }) => createInvitation(ctx, body),
  }),
  route({
    method: 'GET',
    path: '/v1/invitations/:id',
    guard: 'account.read',
    operationId: 'getInvitation',
    summary: 'Read an invitation',
    description: 'An invitation, without its code.',
    answer: Invitation,
    run: (ctx, { params }) => getInvitation(ctx, params.id!),
  }),
  route({
    method: 'DELETE',
    path: '/v1/invitations/:id',
    guard: 'account.write',
    action: 'account.invitation.delete',
    operationId: 'deleteInvitation',
    summary: 'Withdraw an invitation',
    description: 'Its code stops working, and it leaves the list. Who accepted it stays a member.',
    status: 204,
    run: (ctx, { params }) => deleteInvitation(ctx, params.id!),
  }),
  route({
    method: 'POST',
    path: '/v1/invitations/:id/renew',
    guard: 'account.write',
    action: 'account.invitation.renew',
    operationId: 'renewInvitation',
    summary: 'Renew an invitation',
    description: 'Gives it a new code, told in this answer alone, and a new end. The code before stops working.',
    body: InvitationRenewal,
    answer: NewInvitation,
    once: ['code', 'link'],
    problems: ['conflict', 'mail_not_set_up', 'precondition_failed'],
    run: (ctx, { params, body }) => renewInvitation(ctx, params.id!, body),
  }),
  route({
    method: 'POST',
    path: '/v1/invitations/preview',
    guard: 'anyone',
    operationId: 'previewInvitation',
    summary: 'See what an invitation is to',
    description: 'Tells workspace, e-mail and role of an open invitation to whoever has its code.',
    body: InvitationCode,
    answer: InvitationPreview,
    problems: ['not_found', 'origin_not_allowed'],
    run: (ctx, { body }) => previewInvitation(ctx, body.code),
  }),
  route({
    method: 'POST',
    path: '/v1/invitations/accept',
    guard: 'anyone',
    session: 'welcome',
    whileSuspended: true,
    action: 'account.invitation.accept',
    operationId: 'acceptInvitation',
    summary: 'Accept an invitation',
    description:
      'Joins the workspace, once, and answers with a session there. With a session of the invited user the code is enough. Without ' +
      'one, the user who has the e-mail proves themself by their password, and a second factor where they have one; if there is none, name and password make one. ' +
      'Where sign-up is closed nobody is made. A code that is unknown, used, withdrawn or over is answered alike.',
    body: Acceptance,
    status: 201,
    answer: Session,
    nowhere: true,
    problems: [
      'not_found',
      'invalid_login',
      'second_factor_required',
      'invalid_code',
      'invalid_passkey',
      'passkeys_unavailable',
      'origin_not_allowed',
      'conflict',
      'already_exists',
      'workspace_suspended',
    ],
    run: (ctx, { body, request }) => acceptInvitation(ctx, body, request),
    ...setCookie,
  }),
])

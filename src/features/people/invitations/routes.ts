import { crud } from '../../../api/crud'
import { area, route } from '../../../api/route'
import { setCookie } from '../sign-in/sessions'
import { CurrentSession } from '../sign-in/shapes'
import { previewInvitation, acceptInvitation } from './acceptance'
import {
  invitationListing,
  listInvitations,
  createInvitation,
  getInvitation,
  deleteInvitation,
  renewInvitation,
} from './invitations'
import {
  InvitationList,
  InvitationInput,
  InvitationWithCode,
  Invitation,
  InvitationRenewal,
  InvitationCode,
  InvitationPreview,
  InvitationAcceptance,
} from './shapes'

export const invitationRoutes = area('invitations', 'Members', [
  ...crud({
    type: 'invitation',
    response: Invitation,
    list: {
      listing: invitationListing,
      description: 'Lists the invitations to the workspace, including those accepted or expired in the last 90 days.',
      response: InvitationList,
      run: listInvitations,
    },
    create: {
      description:
        'Invites a person to the workspace. The code and the link are shown only once, in this response; share them with the ' +
        'invited person. You can’t invite someone to a role above your own, and a token can’t invite to a role with permissions that it lacks (403). Someone who is already invited or a member can’t be invited (409). The response does not reveal whether the email address ' +
        'has an account. If sign-up is closed and the invitation was not created by the operator, `note` says that only people ' +
        'with an account can accept it. If the installation has a mail server, the link is also emailed, unless `send` is false. A workspace can have ' +
        'up to 100 pending invitations, and up to 1,000 members and invited people (409). Limited to 100 invitations and renewals an hour per workspace.',
      body: InvitationInput,
      response: InvitationWithCode,
      secretFields: ['code', 'link'],
      problems: ['already_exists', 'conflict', 'mail_not_set_up'],
      run: createInvitation,
    },
    get: {
      description: 'Returns an invitation, without its code.',
      run: getInvitation,
    },
    delete: {
      description:
        'Revokes an invitation: its code stops working, and it is removed from the list. Deleting an accepted invitation does not ' +
        'remove the member.',
      run: deleteInvitation,
    },
    verbs: {
      renew: {
        description:
          'Gives the invitation a new code, shown only once in this response, and a new expiry. The old code stops working. An expired invitation can be renewed; ' +
          'an accepted one can’t (409).',
        body: InvitationRenewal,
        response: InvitationWithCode,
        secretFields: ['code', 'link'],
        problems: ['conflict', 'mail_not_set_up', 'precondition_failed'],
        run: renewInvitation,
      },
    },
  }),
  route({
    method: 'POST',
    path: '/v1/invitations/preview',
    guard: 'anyone',
    operationId: 'previewInvitation',
    summary: 'Preview an invitation',
    description:
      'Returns the workspace, email address, and role of a pending invitation, given its code. Unknown, used, revoked, and expired codes get the same 404.',
    body: InvitationCode,
    response: InvitationPreview,
    problems: ['not_found'],
    run: (ctx, { body }) => previewInvitation(ctx, body.code),
  }),
  route({
    method: 'POST',
    path: '/v1/invitations/accept',
    guard: 'anyone',
    session: 'optional',
    whileSuspended: true,
    action: 'account.invitation.accept',
    operationId: 'acceptInvitation',
    summary: 'Accept an invitation',
    description:
      'Joins the workspace and starts a session in it. If the invited user is signed in, only the code is needed; another signed-in user gets a 409. ' +
      'Otherwise, `name` and `password` are required. If a user with the invited email address exists, the password must be theirs, with a second factor if they ' +
      'have one, and the name is ignored. If not, a user with this name and password is created, unless `allows_sign_up` of the invitation is false; ' +
      'then the response is 401 `invalid_login`. Unknown, used, revoked, and expired codes get the same 404.',
    body: InvitationAcceptance,
    status: 201,
    response: CurrentSession,
    noLocation: true,
    problems: [
      'not_found',
      'invalid_login',
      'second_factor_required',
      'invalid_code',
      'invalid_passkey',
      'passkeys_unavailable',
      'conflict',
      'already_exists',
      'workspace_suspended',
    ],
    run: (ctx, { body, request }) => acceptInvitation(ctx, body, request),
    ...setCookie,
  }),
])

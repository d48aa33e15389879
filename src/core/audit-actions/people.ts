import { Type } from '@sinclair/typebox'
import { auditAction } from './entry'

const person = { email: Type.String(), name: Type.String(), role: Type.String() }

export const peopleActions = [
  auditAction({
    action: 'account.member.update',
    number: 'PE001',
    description: 'A member got another role.',
    targets: ['user'],
    changes: 'answer',
    example: { before: { role: 'viewer' }, after: { role: 'member' } },
  }),
  auditAction({
    action: 'account.member.remove',
    number: 'PE002',
    description: 'A member was removed; the reason tells of their tokens.',
    targets: ['user'],
    changes: { of: 'account.member.update' },
  }),
  auditAction({
    action: 'account.invitation.create',
    number: 'PE003',
    description: 'Somebody was invited.',
    targets: ['invitation'],
    changes: 'answer',
  }),
  auditAction({
    action: 'account.invitation.renew',
    number: 'PE004',
    description: 'An invitation got a new code and a new end.',
    targets: ['invitation'],
    changes: 'answer',
  }),
  auditAction({
    action: 'account.invitation.delete',
    number: 'PE005',
    description: 'An invitation was withdrawn.',
    targets: ['invitation'],
    changes: { of: 'account.invitation.renew' },
  }),
  auditAction({
    action: 'account.invitation.accept',
    number: 'PE006',
    description: 'Somebody accepted an invitation, or tried to.',
    targets: ['user', 'invitation'],
    changes: { members: person },
    example: { before: {}, after: { email: 'ada@example.com', name: 'Ada', role: 'member' } },
  }),
  auditAction({
    action: 'account.session.switch',
    number: 'PE007',
    description: 'Somebody went over to another of their workspaces.',
    targets: ['workspace'],
  }),
  auditAction({
    action: 'account.sign_up.create',
    number: 'PE008',
    description: 'Somebody signed up, or tried to with an e-mail that is taken.',
    targets: ['workspace', 'user'],
    changes: { members: { ...person, workspace: Type.String(), plan: Type.String() } },
    example: {
      before: {},
      after: { email: 'ada@example.com', name: 'Ada', role: 'owner', workspace: 'Ada’s servers', plan: 'free' },
    },
  }),
  auditAction({
    action: 'account.workspace.suspend',
    number: 'PE009',
    description: 'A workspace was suspended.',
    targets: ['workspace'],
    changes: 'answer',
  }),
  auditAction({
    action: 'account.workspace.resume',
    number: 'PE010',
    description: 'A workspace was resumed.',
    targets: ['workspace'],
    changes: 'answer',
  }),
] as const

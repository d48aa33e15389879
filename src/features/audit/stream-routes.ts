import { area, route } from '../../access/route'
import { listQuery } from '../../core/list'
import { promoteStreamSecret, rotateStreamSecret } from './stream-secret'
import {
  AuditStream,
  AuditStreamInput,
  AuditStreamList,
  AuditStreamPatch,
  AuditStreamSecretRotation,
  AuditStreamTest,
  NewAuditStream,
} from './stream-shapes'
import { tryStream } from './stream-trial'
import { createStream, deleteStream, getStream, listStreams, streamListing, updateStream } from './streams'

export const auditStreamRoutes = area('audit-streams', 'Audit', [
  route({
    method: 'GET',
    path: '/v1/audit-streams',
    guard: 'account.read',
    operationId: 'listAuditStreams',
    summary: 'List audit streams',
    description: 'URLs that receive the audit log of the workspace, with how far each has it.',
    query: listQuery(streamListing),
    answer: AuditStreamList,
    run: (ctx, { query }) => listStreams(ctx, query),
  }),
  route({
    method: 'POST',
    path: '/v1/audit-streams',
    guard: 'account.write',
    action: 'account.audit_stream.create',
    operationId: 'createAuditStream',
    summary: 'Create an audit stream',
    description:
      'Makes a URL receive the audit log as it is written. The answer is the only place where the signing secret is told. ' +
      'Messages are `{"event": "audit.entries", "data": {workspace_id, stream_id, gap, checkpoint, checkpoints, entries}}`: up to ' +
      '100 entries and 64 KiB, in the order of `seq`, each at least once, as the export has them; the checkpoints signed since; ' +
      'and under `gap` the numbers of what was pruned before it could be taken. They are signed like those of webhooks, in ' +
      'X-Service-Signature and webhook-signature, and tried until they are taken.',
    body: AuditStreamInput,
    status: 201,
    answer: NewAuditStream,
    once: ['secret'],
    problems: ['conflict'],
    run: (ctx, { body }) => createStream(ctx, body),
  }),
  route({
    method: 'GET',
    path: '/v1/audit-streams/:id',
    guard: 'account.read',
    operationId: 'getAuditStream',
    summary: 'Read an audit stream',
    description: 'A stream, with how far its receiver has the log and why the last try failed, if it did.',
    answer: AuditStream,
    run: (ctx, { params }) => getStream(ctx, params.id!),
  }),
  route({
    method: 'PATCH',
    path: '/v1/audit-streams/:id',
    guard: 'account.write',
    action: 'account.audit_stream.update',
    operationId: 'updateAuditStream',
    summary: 'Edit an audit stream',
    description:
      'Changes a stream (JSON merge patch, RFC 7396). With `active` false it stops where it is, and retention no longer waits for ' +
      'it; true again, it goes on from there. What is failing is tried at once after a change of where or what it sends.',
    body: AuditStreamPatch,
    answer: AuditStream,
    run: (ctx, { params, body }) => updateStream(ctx, params.id!, body),
  }),
  route({
    method: 'DELETE',
    path: '/v1/audit-streams/:id',
    guard: 'account.write',
    action: 'account.audit_stream.delete',
    operationId: 'deleteAuditStream',
    summary: 'Delete an audit stream',
    description: 'What its receiver lacks is not sent any more.',
    status: 204,
    run: (ctx, { params }) => deleteStream(ctx, params.id!),
  }),
  route({
    method: 'POST',
    path: '/v1/audit-streams/:id/secret/rotate',
    guard: 'account.write',
    action: 'account.audit_stream.rotate_secret',
    operationId: 'rotateAuditStreamSecret',
    summary: 'Rotate the signing secret of a stream',
    description:
      'Gives the stream a new secret, told in this answer alone. While the two overlap, webhook-signature carries a signature of ' +
      'each, X-Service-Signature stays with the old secret and X-Service-Signature-Next is made with the new one.',
    body: AuditStreamSecretRotation,
    answer: NewAuditStream,
    once: ['secret'],
    problems: ['conflict', 'precondition_failed'],
    run: (ctx, { params, body }) => rotateStreamSecret(ctx, params.id!, body),
  }),
  route({
    method: 'POST',
    path: '/v1/audit-streams/:id/secret/promote',
    guard: 'account.write',
    action: 'account.audit_stream.promote_secret',
    operationId: 'promoteAuditStreamSecret',
    summary: 'End a rotation of a stream early',
    description: 'Drops the old secret now, before its overlap is over: the new one alone signs from here on.',
    answer: AuditStream,
    problems: ['conflict', 'precondition_failed'],
    run: (ctx, { params }) => promoteStreamSecret(ctx, params.id!),
  }),
  route({
    method: 'POST',
    path: '/v1/audit-streams/:id/test',
    guard: 'account.write',
    action: 'account.audit_stream.test',
    operationId: 'testAuditStream',
    summary: 'Send a test message to an audit stream',
    description:
      'Posts a message without entries once and answers with what came of it. The message carries X-Service-Test: 1. ' +
      'Five a minute and stream.',
    answer: AuditStreamTest,
    problems: ['rate_limited'],
    run: (ctx, { params }) => tryStream(ctx, params.id!),
  }),
])

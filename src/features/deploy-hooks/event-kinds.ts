import { Type } from '@sinclair/typebox'
import { Nullable, Shape, Words } from '../../core/shapes'
import { extensionKind } from '../../core/event-kinds'
import { At, IdOf, MaybeAt, MaybeText, Named, Text } from '../../core/event-fields'

export const deploymentKinds = [
  extensionKind({
    kind: 'deployment.finished',
    area: 'cloud',
    title: 'Deployment finished',
    description: 'A deployment finished, successfully or not.',
    data: Shape({
      deployment: Shape(
        {
          id: IdOf('dep', 'ID of the deployment.'),
          status: Words(['succeeded', 'failed', 'timed_out', 'canceled', 'rolled_back'], { description: 'Outcome.' }),
          release: MaybeText('Deployed release, a commit or an image digest; null if unknown.'),
          previous_release: MaybeText('Previously deployed release; null if unknown.'),
          exit_code: Nullable(Type.Integer(), { description: 'Exit code of the deployment script; null if it was terminated.' }),
          started_at: MaybeAt('When the deployment started; null if it did not start.'),
          finished_at: At('When the deployment finished.'),
        },
        { description: 'The deployment.' },
      ),
      deploy_hook: Named('hook', 'The deploy hook that was called.'),
      server: Nullable(Named('srv', 'The server.'), { description: 'The server deployed to; null if it was deleted.' }),
      trigger: Shape(
        {
          provider: Text('Source of the call: `github`, `gitlab`, `forgejo`, `manual`, …'),
          repository: MaybeText('Repository, as sent by the caller; null if not sent.'),
          ref: MaybeText('Branch or tag, as sent by the caller; null if not sent.'),
          sha: MaybeText('Commit hash, as sent by the caller; null if not sent.'),
          actor: MaybeText('Who triggered the deployment, as sent by the caller; null if not sent.'),
          actor_assurance: Words(['oidc', 'signed', 'token'], {
            description:
              'How `actor` is authenticated. `oidc`: by an identity provider. `signed`: by a signed request. `token`: only by the token.',
          }),
          run_url: MaybeText('URL of the pipeline run, as sent by the caller; null if not sent.'),
        },
        { description: 'The call that started the deployment.' },
      ),
    }),
    example: {
      deployment: {
        id: 'dep_01k3za0q2r4s6t8v0w2x4y6z8a',
        status: 'succeeded',
        release: '9f2c1e7',
        previous_release: '41b0d93',
        exit_code: 0,
        started_at: '2027-01-31T09:26:10.004Z',
        finished_at: '2027-01-31T09:26:53.589Z',
      },
      deploy_hook: { id: 'hook_01k3za0n1p3q5r7s9t1v3w5x7y', name: 'shop' },
      server: { id: 'srv_01k3z9a1b2c3d4e5f6g7h8j9km', name: 'web-1' },
      trigger: {
        provider: 'github',
        repository: 'example/shop',
        ref: 'refs/heads/main',
        sha: '9f2c1e7d5b3a4c6e8f0a1b2c3d4e5f6a7b8c9d0e',
        actor: 'octocat',
        actor_assurance: 'signed',
        run_url: 'https://github.com/example/shop/actions/runs/1',
      },
    },
  }),
] as const

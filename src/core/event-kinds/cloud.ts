import { Type } from '@sinclair/typebox'
import { Nullable, Shape, Words } from '../shapes'
import { contractKind, extensionKind } from './entry'
import { At, IdOf, MaybeAt, MaybeText, Named, Text, Texts } from './members'

export const serverKinds = [
  contractKind({
    kind: 'server.status_changed',
    area: 'cloud',
    title: 'Server status changed',
    description: 'A server went up or down, as its agent, its monitors or its cloud see it.',
    data: Shape({
      server: Shape(
        {
          id: IdOf('srv', 'Its id.'),
          name: Text('Its name.'),
          kind: Words(['vm', 'container', 'bare_metal', 'external'], { description: 'What it is.' }),
          location: MaybeText('Where it stands, in the words of its cloud.'),
          addresses: Texts('Its IP addresses, public ones first.'),
          labels: Type.Record(Type.String(), Type.String(), { description: 'Its labels.' }),
        },
        { description: 'The server.' },
      ),
      status: Words(['up', 'down'], { description: 'How it is now.' }),
      previous_status: Words(['up', 'down', 'unknown'], { description: 'How it was before; `unknown` at first.' }),
      power: Words(['on', 'off', 'unknown'], { description: 'Whether it has power, where its cloud or controller tells.' }),
      source: Words(['agent', 'monitor', 'cloud', 'action'], { description: 'Who noticed; `action`: it was switched here.' }),
      reason: Text('Why, in a sentence for a person.'),
      changed_at: At('When it changed.'),
    }),
    example: {
      server: {
        id: 'srv_01k3z9a1b2c3d4e5f6g7h8j9km',
        name: 'web-1',
        kind: 'vm',
        location: 'fsn1',
        addresses: ['192.0.2.20', '2001:db8::20'],
        labels: { role: 'web' },
      },
      status: 'down',
      previous_status: 'up',
      power: 'on',
      source: 'agent',
      reason: 'The agent has not reported for 90 seconds.',
      changed_at: '2027-01-31T09:26:53.589Z',
    },
  }),
] as const

export const deploymentKinds = [
  extensionKind({
    kind: 'deployment.finished',
    area: 'cloud',
    title: 'Deployment finished',
    description: 'A deployment that had begun came to its end, well or not.',
    data: Shape({
      deployment: Shape(
        {
          id: IdOf('dep', 'Its id.'),
          status: Words(['succeeded', 'failed', 'timed_out', 'cancelled', 'rolled_back'], { description: 'How it ended.' }),
          release: MaybeText('What was deployed: a commit or an image digest.'),
          previous_release: MaybeText('What ran before.'),
          exit_code: Nullable(Type.Integer(), { description: 'Exit status of the recipe; null when it was ended from outside.' }),
          started_at: MaybeAt('When it began to run.'),
          finished_at: At('When it ended.'),
        },
        { description: 'The deployment.' },
      ),
      deploy_hook: Named('hook', 'The deploy hook that was called.'),
      server: Nullable(Named('srv', 'The server.'), { description: 'The server deployed to; null when it is gone.' }),
      trigger: Shape(
        {
          provider: Text('Who called: `github`, `gitlab`, `forgejo`, `manual`, …'),
          repository: MaybeText('Repository named by the caller.'),
          ref: MaybeText('Branch or tag.'),
          sha: MaybeText('Commit.'),
          actor: MaybeText('Who did it, in the caller’s words.'),
          actor_assurance: Words(['oidc', 'signed', 'token'], {
            description: 'How well `actor` is proved: by an identity provider, by a signed call, or only by who knew the token.',
          }),
          run_url: MaybeText('Page of the pipeline run.'),
        },
        { description: 'The call that started it.' },
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

/**
 * Simulates other activity during a job: work that lasts until the test releases it, and a user who acts in between.
 */
import { definePlugin, defineTask, type Plugin, Type } from 'archivolt'

/** The task `other.work` runs until `release` is called. */
export function otherWork(): { plugin: Plugin; release(): void } {
  let release = (): void => undefined
  const task = defineTask({
    name: 'other.work',
    title: 'Other work',
    payload: Type.Object({}),
    lane: 'light',
    run: () => new Promise<null>((resolve) => (release = () => resolve(null))),
  })
  return { plugin: definePlugin({ name: 'other', needs: [], tasks: [task] }), release: () => release() }
}

/** Runs an act each time a job reaches a step; the job waits for it. */
export const handAt = (at: string, when: 'before' | 'after', act: () => Promise<void> | undefined): Plugin =>
  definePlugin({
    name: 'hand',
    needs: ['library'],
    on: {
      'job.step':
        () =>
        async ({ step, phase }) => {
          if (step === at && phase === when) await act()
        },
    },
  })

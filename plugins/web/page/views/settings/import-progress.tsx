/** Import: the progress of the work, and the reason for waiting. */
import { notifications } from '../../server/events.ts'
import type { Adoption } from '../../server/records.ts'
import { toMoment, toPercent } from '../../texts/format.ts'
import { inWords, t } from '../../texts/lookup.ts'

const AT_WORK = ['scanning', 'adopting', 'undoing'] as const
const isAtWork = (state: Adoption['state']): state is (typeof AT_WORK)[number] =>
  (AT_WORK as readonly string[]).includes(state)

/** Only one import is completed at a time, so its task is found by name; the plan has the id of any other task. */
function runOf({ state, task_id: id, completing }: Adoption) {
  if (state === 'adopted')
    return completing ? notifications.value.find(({ task_name: name }) => name === 'complete_videos') : undefined
  return isAtWork(state) ? notifications.value.find((one) => one.id === id) : undefined
}

export function Progress({ adoption }: { adoption: Adoption }) {
  const { state, waits, said } = adoption
  const run = runOf(adoption)
  if (!isAtWork(state) && !adoption.completing) return null
  const words = run?.messages.at(-1)
  const share = run?.progress ?? 0
  const name = words ?? t(isAtWork(state) ? `settings.import.state.${state}` : 'settings.import.state.adopted')
  return (
    <div class="plan-progress">
      {share > 0 ? (
        <progress value={share} max={1} aria-label={`${name}: ${toPercent(share)}`} />
      ) : (
        <progress aria-label={name} />
      )}
      {words && <p class="meta">{words}</p>}
      {waits && (
        <p class="hint">
          {waits.until > 0
            ? t('settings.import.waits.until', { reason: inWords(waits.reason, said), when: toMoment(waits.until) })
            : t('settings.import.waits', { reason: inWords(waits.reason, said) })}
        </p>
      )}
    </div>
  )
}

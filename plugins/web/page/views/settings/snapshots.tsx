/** Safety: snapshots, the state of all documents on a day, stored on this machine; taken, restored, deleted. */
import { Camera, RotateCcw, Trash } from 'lucide'
import { Button, IconButton } from '../../parts/button.tsx'
import { confirm } from '../../parts/dialog.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { say } from '../../parts/toast.ts'
import { get, post, remove } from '../../server/api.ts'
import type { Snapshot, Snapshots } from '../../server/records.ts'
import { useJobs } from '../../stores/jobs.ts'
import { forget, type Load, useLoad } from '../../stores/load.ts'
import { toAge, toMoment, toSpan } from '../../texts/format.ts'
import { t } from '../../texts/lookup.ts'
import { Group } from './option.tsx'
import { Preference } from './preference-options.tsx'
import { usePreferences } from './preferences.ts'

export function SnapshotsGroup() {
  const list = useLoad<Snapshots>('settings/snapshots', (signal) => get('/api/snapshot/', {}, signal))
  useJobs(['create_snapshot', 'restore_snapshot'], () => void list.reload())
  const take = async () => {
    await post('/api/snapshot/')
    say(t('settings.snapshots.taking'))
    await list.reload()
  }
  return (
    <Group title={t('settings.snapshots')} hint={t('settings.snapshots.lead')}>
      <Daily list={list} />
      <Loaded from={list} height="120px">
        {({ snapshots }) => (
          <>
            {snapshots.length === 0 && <p class="option-line">{t('settings.snapshots.none')}</p>}
            <ul class="settings-rows">
              {snapshots.map((one) => (
                <Row key={one.id} snapshot={one} reload={list.reload} />
              ))}
            </ul>
            <div class="option-foot">
              <Button
                icon={Camera}
                isBusy={snapshots.some(({ state }) => state === 'IN_PROGRESS')}
                onClick={() => take()}
              >
                {t('settings.snapshots.take')}
              </Button>
            </div>
          </>
        )}
      </Loaded>
    </Group>
  )
}

function Daily({ list }: { list: Load<Snapshots> }) {
  const preferences = usePreferences()
  const { next_exec: next, expire_after: days } = list.now.value.value ?? {}
  const more = next && { when: toMoment(next), age: toAge(next), count: Number.parseInt(days!, 10) }
  return (
    <Loaded from={preferences} height="120px">
      {() => (
        <>
          <Preference
            preferences={preferences}
            name="application.enable_snapshot"
            more={more ? t('settings.snapshots.next', more) : t('settings.snapshots.off')}
            onSave={async (isOn) => {
              await preferences.save({ application: { enable_snapshot: isOn === true } })
              await list.reload()
            }}
          />
          <Preference preferences={preferences} name="application.snapshot_room" />
        </>
      )}
    </Loaded>
  )
}

function Row({ snapshot, reload }: { snapshot: Snapshot; reload: () => Promise<void> }) {
  const { id, state, end_stamp: end, start_date: start, duration_s: duration } = snapshot
  const when = end ? toMoment(end) : start
  const restore = async () => {
    const isSure = await confirm({
      title: t('settings.snapshots.restore.title'),
      text: (
        <>
          <p>{t('settings.snapshots.restore.goes', { when })}</p>
          <p>{t('settings.restore.stays')}</p>
        </>
      ),
      action: t('settings.snapshots.restore'),
      isDangerous: true,
    })
    if (!isSure) return
    await post(`/api/snapshot/${id}/`)
    forget()
    say(t('settings.restore.begun'))
  }
  const drop = async () => {
    const isSure = await confirm({
      title: t('settings.snapshots.delete.title'),
      text: <p>{t('settings.snapshots.delete.text', { when })}</p>,
      action: t('action.delete'),
      isDangerous: true,
    })
    if (!isSure) return
    await remove(`/api/snapshot/${id}/`)
    await reload()
    say(t('settings.snapshots.deleted'))
  }
  return (
    <li>
      <div class="row-words">
        <strong>{when}</strong>
        <p class={state === 'FAILED' || state === 'PARTIAL' ? 'meta bad' : 'meta'}>
          {t(`settings.snapshots.state.${state}`)}
          {state === 'SUCCESS' && ` · ${toAge(end)} · ${toSpan(duration)}`}
        </p>
      </div>
      {state === 'SUCCESS' && (
        <IconButton icon={RotateCcw} label={t('settings.snapshots.restoreOf', { when })} onClick={() => restore()} />
      )}
      {state !== 'IN_PROGRESS' && (
        <IconButton icon={Trash} label={t('settings.snapshots.deleteOf', { when })} onClick={() => drop()} />
      )}
    </li>
  )
}

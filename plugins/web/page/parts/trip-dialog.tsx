/** The dialog of a trip: the duration, the videos that fit, why not more fit, then the progress of saving. */
import { useComputed } from '@preact/signals'
import { ArrowDownToLine } from 'lucide'
import { useRef, useState } from 'preact/hooks'
import { get, type Query } from '../server/api.ts'
import type { Rule, Rules } from '../server/records.ts'
import { isThere } from '../stores/left-out.ts'
import { useLoad } from '../stores/load.ts'
import { offlineVideos } from '../stores/offline-videos.ts'
import { setRefilledTrip } from '../stores/refilled-trip.ts'
import { mayDownload } from '../stores/session.ts'
import { titledAs } from '../stores/titles.ts'
import { toBytes, toSpan } from '../texts/format.ts'
import { t } from '../texts/lookup.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { Chips, Select, Switch } from './field.tsx'
import { useGroups } from './groups.tsx'
import { Loaded } from './loaded.tsx'
import { ruleTitle } from './rule-words.ts'
import { say } from './toast.ts'
import { type Film, HOUR_S, planTrip, SHARE, type TripPlan, toFilms } from './trip-plan.ts'
import { listSource, type TripSource } from './trip-source.ts'

/** Outcomes of rules for videos that people want. */
const WANTING: ReadonlySet<Rule['outcome']> = new Set(['take', 'keep'])
const HOURS = ['1', '2', '3', '5', '10'] as const
type Hours = (typeof HOURS)[number]
type Keyed = [key: string, source: TripSource]
/** Key of the list from which the dialog was opened. */
const FIRST = 'first'
/** Loaded only when videos are saved, because the module starts working as soon as it is loaded. */
const offline = () => import('./offline-videos.ts')

/** Further sources: groups, and rules that take or keep videos. */
function useFurther(): Keyed[] {
  const groups = useGroups().now.value.value ?? []
  const rules = useLoad('trip/rules', async (signal): Promise<Rule[]> => {
    if (!mayDownload.peek() || !isThere('rules')) return []
    const { take, keep } = await get<Rules>('/api/rule/', {}, signal)
    return [...take, ...keep].filter(({ outcome, is_on: isOn }) => isOn && WANTING.has(outcome))
  })
  return [
    ...groups.map(({ id, name }) => videosOf({ group: id }, t('trip.group', { name }))),
    ...(rules.now.value.value ?? []).map((rule) =>
      videosOf({ rule: rule.id }, t('trip.rule', { name: ruleTitle(rule) })),
    ),
  ]
}

const videosOf = (query: Query, name: string): Keyed => [JSON.stringify(query), listSource(name, '/api/video/', query)]

export default function TripDialog({ source: first, onClose }: { source: TripSource; onClose: () => void }) {
  const sources = new Map([[FIRST, first], ...useFurther()])
  const [chosen, setChosen] = useState(FIRST)
  const [wanted, setWanted] = useState<Wanted>({ hours: '3', isForTrip: true, isRefilled: false })
  const source = sources.get(chosen) ?? first
  const [saving, setSaving] = useState<readonly string[]>()
  const [key] = useState(() => `trip/${Math.random()}/`)
  const isStopped = useRef(false)
  const load = useLoad(key + chosen, async (signal) => {
    const { freeBytes } = await offline()
    const [videos, free] = await Promise.all([source.read(signal), freeBytes()])
    return { films: toFilms(videos, offlineVideos.peek()), free }
  })
  const save = async (films: readonly Film[]) => {
    const { hours, isForTrip, isRefilled } = wanted
    if (isForTrip && isRefilled && source.list)
      setRefilledTrip({ name: source.name, ...source.list, hours: Number(hours) })
    const ids = films.map(({ video }) => video.platform_id)
    setSaving(ids)
    const { removeOffline, saveOffline } = await offline()
    for (const [at, { video }] of films.entries()) {
      if (isStopped.current) return
      if (!(await saveOffline(video, { isForTrip }))) return setSaving(ids.slice(0, at))
      // Cancel has removed only the videos that were saved before this one.
      if (isStopped.current) return removeOffline(video.platform_id)
    }
  }
  const title = first.name === '' ? t('trip.title') : t('trip.titleOf', { name: first.name })
  return (
    <Dialog title={title} onClose={onClose}>
      {saving ? (
        <Progress ids={saving} onCancel={() => void (isStopped.current = true)} onClose={onClose} />
      ) : (
        <>
          {sources.size > 1 && (
            <Select
              label={t('trip.from')}
              value={chosen}
              choices={[...sources].map(([value, { name }]) => ({ value, label: name || t('trip.here') }))}
              onChange={setChosen}
            />
          )}
          <Loaded from={load}>
            {({ films, free }) => (
              <Choice
                {...{ films, free, wanted, onClose }}
                isList={source.list !== undefined}
                onChange={setWanted}
                onSave={save}
              />
            )}
          </Loaded>
        </>
      )}
    </Dialog>
  )
}

interface Wanted {
  hours: Hours
  isForTrip: boolean
  /** The device refills the pack by itself. */
  isRefilled: boolean
}

interface ChoiceProps {
  films: readonly Film[]
  free: number
  /** The source is a list, which can be read again later. */
  isList: boolean
  onClose: () => void
  wanted: Wanted
  onChange: (wanted: Wanted) => void
  onSave: (films: readonly Film[]) => Promise<void>
}

function Choice({ films, free, isList, wanted, onChange, onClose, onSave }: ChoiceProps) {
  const { hours, isForTrip, isRefilled } = wanted
  const plan = planTrip(films, { seconds: Number(hours) * HOUR_S, bytes: free * SHARE })
  return (
    <>
      <Chips
        label={t('trip.hours')}
        value={hours}
        choices={HOURS.map((value) => ({ value, label: t('trip.hour', { count: Number(value) }) }))}
        onChange={(value) => onChange({ ...wanted, hours: value })}
      />
      <p role="status">
        <strong>
          {t('trip.taken', { count: plan.taken.length, span: toSpan(plan.seconds), size: toBytes(plan.bytes) })}
        </strong>
        <br />
        <span class="hint">{whyNotMore(plan, films.length, free)}</span>
      </p>
      {plan.taken.length > 0 && (
        <ul class="choices trip-films">
          {plan.taken.map(({ video, seconds, bytes }) => (
            <li key={video.platform_id}>
              <span dir="auto">{titledAs(video).title}</span>
              <span class="meta">
                {toSpan(seconds)} · {toBytes(bytes)}
              </span>
            </li>
          ))}
        </ul>
      )}
      <Switch
        label={t('trip.remove')}
        hint={t('trip.remove.hint')}
        isOn={isForTrip}
        onChange={(isOn) => onChange({ ...wanted, isForTrip: isOn })}
      />
      {isList && isForTrip && (
        <Switch
          label={t('trip.keep')}
          hint={t('trip.keep.hint')}
          isOn={isRefilled}
          onChange={(isOn) => onChange({ ...wanted, isRefilled: isOn })}
        />
      )}
      <footer>
        <Button kind="quiet" onClick={onClose}>
          {t('action.cancel')}
        </Button>
        <Button
          kind="main"
          icon={ArrowDownToLine}
          disabled={plan.taken.length === 0}
          onClick={() => onSave(plan.taken)}
        >
          {t('trip.save')}
        </Button>
      </footer>
    </>
  )
}

function whyNotMore({ taken, tooLong, tooLarge }: TripPlan<Film>, all: number, free: number): string {
  const room = t('trip.free', { free: toBytes(free) })
  if (all === 0) return t('trip.none')
  if (tooLarge > 0) return `${t('trip.tooLarge', { count: tooLarge })} ${room}`
  if (tooLong > 0) return `${t('trip.tooLong', { count: tooLong })} ${room}`
  return `${t('trip.all', { count: taken.length })} ${room}`
}

/** Saving continues when the dialog is closed. */
function Progress({ ids, onCancel, onClose }: { ids: readonly string[]; onCancel: () => void; onClose: () => void }) {
  const films = useComputed(() => offlineVideos.value.filter(({ video }) => ids.includes(video.platform_id)))
  const whole = films.value.filter(({ isWhole }) => isWhole).length
  const [done, all] = films.value.reduce(([some, sum], one) => [some + one.done, sum + one.bytes], [0, 0])
  const isOver = whole === ids.length
  const cancel = async () => {
    onCancel()
    const { removeOffline } = await offline()
    for (const { video, isWhole } of films.peek()) if (!isWhole) await removeOffline(video.platform_id)
    say(t('trip.cancelled', { count: whole }))
    onClose()
  }
  return (
    <>
      <p role="status">
        {isOver ? t('trip.ready', { count: whole }) : t('trip.saving', { number: whole + 1, all: ids.length })}
      </p>
      <progress value={done} max={Math.max(1, all)} aria-label={t('trip.progress')} />
      <p class="hint">{t('settings.device.done', { done: toBytes(done), all: toBytes(all) })}</p>
      <footer>
        {!isOver && (
          <Button kind="quiet" onClick={cancel}>
            {t('trip.cancel')}
          </Button>
        )}
        <Button kind="main" onClick={onClose}>
          {t(isOver ? 'action.done' : 'trip.behind')}
        </Button>
      </footer>
    </>
  )
}

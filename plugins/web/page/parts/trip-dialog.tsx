/** The dialog of a trip: how long, what fits and why not more, then the progress of saving. */
import { useComputed } from '@preact/signals'
import { ArrowDownToLine } from 'lucide'
import { useRef, useState } from 'preact/hooks'
import type { Video } from '../server/records.ts'
import { useLoad } from '../stores/load.ts'
import { offlineVideos } from '../stores/offline-videos.ts'
import { titledAs } from '../stores/titles.ts'
import { toBytes, toSpan } from '../texts/format.ts'
import { t } from '../texts/lookup.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { Chips, Switch } from './field.tsx'
import { Loaded } from './loaded.tsx'
import { say } from './toast.ts'
import { type Candidate, planTrip, type TripPlan, type TripSource } from './trip-plan.ts'

const HOURS = ['1', '2', '3', '5', '10'] as const
type Hours = (typeof HOURS)[number]
const HOUR_S = 3600
/** Part of the free space that a trip may use: other pages need some, too. */
const SHARE = 0.9

/** Loaded only where videos are saved: it begins to work at once. */
const offline = () => import('./offline-videos.ts')

interface Film extends Candidate {
  video: Video
}

/** What is left to watch of each, without those that are here, or cannot be. */
const toFilms = (videos: readonly Video[]): Film[] =>
  videos
    .filter(({ player, media_size: bytes, missing, place }) => {
      return !player.watched && bytes > 0 && !missing && place?.state !== 'away'
    })
    .filter(({ platform_id: id }) => !offlineVideos.peek().some(({ video }) => video.platform_id === id))
    .map((video) => ({
      video,
      seconds: Math.ceil(video.player.duration * (1 - (video.player.progress ?? 0) / 100)),
      bytes: video.media_size,
    }))

export default function TripDialog({ source, onClose }: { source: TripSource; onClose: () => void }) {
  const [saving, setSaving] = useState<readonly string[]>()
  const [key] = useState(() => `trip/${Math.random()}`)
  const isStopped = useRef(false)
  const load = useLoad(key, async (signal) => {
    const { freeBytes } = await offline()
    const [videos, free] = await Promise.all([source.read(signal), freeBytes()])
    return { films: toFilms(videos), free }
  })
  const save = async (films: readonly Film[], isForTrip: boolean) => {
    const ids = films.map(({ video }) => video.platform_id)
    setSaving(ids)
    const { saveOffline } = await offline()
    for (const [at, { video }] of films.entries()) {
      if (isStopped.current) return
      if (!(await saveOffline(video, { isForTrip }))) return setSaving(ids.slice(0, at))
    }
  }
  const title = source.name === '' ? t('trip.title') : t('trip.titleOf', { name: source.name })
  return (
    <Dialog title={title} onClose={onClose}>
      {saving ? (
        <Progress ids={saving} onCancel={() => void (isStopped.current = true)} onClose={onClose} />
      ) : (
        <Loaded from={load}>
          {({ films, free }) => <Choice films={films} free={free} onClose={onClose} onSave={save} />}
        </Loaded>
      )}
    </Dialog>
  )
}

interface ChoiceProps {
  films: readonly Film[]
  free: number
  onClose: () => void
  onSave: (films: readonly Film[], isForTrip: boolean) => Promise<void>
}

function Choice({ films, free, onClose, onSave }: ChoiceProps) {
  const [hours, setHours] = useState<Hours>('3')
  const [isRemoved, setRemoved] = useState(true)
  const plan = planTrip(films, { seconds: Number(hours) * HOUR_S, bytes: free * SHARE })
  return (
    <>
      <Chips
        label={t('trip.hours')}
        value={hours}
        choices={HOURS.map((value) => ({ value, label: t('trip.hour', { count: Number(value) }) }))}
        onChange={setHours}
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
      <Switch label={t('trip.remove')} hint={t('trip.remove.hint')} isOn={isRemoved} onChange={setRemoved} />
      <footer>
        <Button kind="quiet" onClick={onClose}>
          {t('action.cancel')}
        </Button>
        <Button
          kind="main"
          icon={ArrowDownToLine}
          disabled={plan.taken.length === 0}
          onClick={() => onSave(plan.taken, isRemoved)}
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

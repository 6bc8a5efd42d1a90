/**
 * Storage: used and free space, days until the disk is full, sizes by channel and group, and proposals to free space.
 */
import { Trash } from 'lucide'
import { useState } from 'preact/hooks'
import { undoOf } from '../../parts/bin.ts'
import { Button } from '../../parts/button.tsx'
import { confirm } from '../../parts/dialog.tsx'
import { Chips } from '../../parts/field.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { inPieces } from '../../parts/pieces.ts'
import { say } from '../../parts/toast.ts'
import { get, post } from '../../server/api.ts'
import { under } from '../../server/base.ts'
import type { ChannelGroup, Proposal, StorageFigures } from '../../server/records.ts'
import { noteDeleted } from '../../stores/deleted.ts'
import { isThere } from '../../stores/left-out.ts'
import { forget, useLoad } from '../../stores/load.ts'
import { channelHref } from '../../stores/session.ts'
import { shownTitle } from '../../stores/titles.ts'
import { toAge, toBytes } from '../../texts/format.ts'
import { t } from '../../texts/lookup.ts'
import { Share } from './share.tsx'

const FEW = 10

export function Storage() {
  const load = useLoad<{ figures: StorageFigures; groups: ChannelGroup[] }>('statistics/storage', async (signal) => {
    const [figures, groups] = await Promise.all([
      get<StorageFigures>('/api/storage/', {}, signal),
      isThere('rules') ? get<ChannelGroup[]>('/api/group/', {}, signal) : [],
    ])
    return { figures, groups }
  })
  const [isFreeing, setFreeing] = useState(false)
  return (
    <section aria-labelledby="storage">
      <div class="page-head">
        <h2 id="storage">{t('statistics.storage')}</h2>
        <Button icon={Trash} aria-expanded={isFreeing} onClick={() => setFreeing(!isFreeing)}>
          {t('storage.free')}
        </Button>
      </div>
      <Loaded from={load} height="700px">
        {({ figures, groups }) => (
          <div class="panel">
            <Used figures={figures} />
            <Largest figures={figures} groups={groups} />
          </div>
        )}
      </Loaded>
      {isFreeing && <Proposals reload={load.reload} />}
    </section>
  )
}

/** Ten years, beyond which a number of days would be too precise. */
const MANY_DAYS = 3650

function Used({
  figures: { total, free, videos, bin, per_day: pace, days_until_full: days },
}: {
  figures: StorageFigures
}) {
  const others = Math.max(0, total - free - videos - bin)
  const parts = [
    ['storage.videos', videos],
    ['storage.bin', bin],
    ['storage.others', others],
    ['storage.unused', free],
  ] as const
  const all = Math.max(
    1,
    parts.reduce((sum, [, bytes]) => sum + bytes, 0),
  )
  return (
    <>
      <Share
        title={t('storage.of', { used: toBytes(total - free), total: toBytes(total) })}
        parts={parts.map(([key, bytes]) => ({ label: t(key), share: bytes / all, text: toBytes(bytes) }))}
      />
      <p class="hint">
        {days === null
          ? t('storage.noPace')
          : days > MANY_DAYS
            ? t('storage.fullInYears', { pace: toBytes(pace) })
            : t('storage.full', { count: days, pace: toBytes(pace) })}
      </p>
    </>
  )
}

type By = 'channel' | 'group'

function Largest({ figures: { channels }, groups }: { figures: StorageFigures; groups: ChannelGroup[] }) {
  const [by, setBy] = useState<By>('channel')
  const sizes = new Map(channels.map((one) => [one.id, one.media_size]))
  const rows =
    by === 'channel'
      ? channels
          .slice(0, FEW)
          .map(({ id, name, media_size: bytes }) => ({ id, name: name || id, href: channelHref(id), bytes }))
      : groups
          .map(({ id, name, members }) => ({
            id: String(id),
            name,
            href: undefined,
            bytes: members.reduce((sum, one) => sum + ((one.kind === 'channel' && sizes.get(one.id)) || 0), 0),
          }))
          .sort((one, other) => other.bytes - one.bytes)
  const most = Math.max(1, ...rows.map(({ bytes }) => bytes))
  return (
    <>
      {groups.length > 0 && (
        <Chips
          label={t('storage.by')}
          value={by}
          choices={(['channel', 'group'] as const).map((value) => ({ value, label: t(`storage.by.${value}`) }))}
          onChange={setBy}
        />
      )}
      <ol class="bars">
        {rows.map(({ id, name, href, bytes }) => (
          <li key={id}>
            <a {...(href !== undefined && { href })}>
              <span class="bar-name" dir="auto">
                {name}
              </span>
              <span class="bar-track" aria-hidden="true">
                <span style={{ width: `${(bytes / most) * 100}%` }} />
              </span>
              <span class="bar-value">{toBytes(bytes)}</span>
            </a>
          </li>
        ))}
      </ol>
    </>
  )
}

function Proposals({ reload }: { reload: () => Promise<void> }) {
  const list = useLoad<Proposal[]>('statistics/proposals', (signal) => get('/api/storage/proposal/', {}, signal))
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set())
  const toggle = (id: string) => {
    const next = new Set(left)
    if (!next.delete(id)) next.add(id)
    setLeft(next)
  }
  const drop = async (chosen: readonly Proposal[]) => {
    const count = chosen.length
    const isSure = await confirm({
      title: t('select.delete.title', { count }),
      text: <p>{t('storage.free.text')}</p>,
      action: t('select.delete'),
      isDangerous: true,
    })
    if (!isSure) return
    const ids = chosen.map((one) => one.platform_id)
    const removals: Array<string | undefined> = []
    const backs: Array<() => unknown> = []
    const renew = () => Promise.all([list.reload(), reload()])
    try {
      await inPieces(ids, async (some) => {
        const body = { action: 'delete', ids: some }
        removals.push((await post<{ removal?: string }>('/api/video/bulk/', body)).removal)
        backs.unshift(noteDeleted(some))
      })
    } finally {
      forget()
      await renew()
    }
    say(t('select.deleted', { count }), undoOf(removals, [...backs, renew]))
  }
  return (
    <Loaded from={list} height="200px">
      {(proposals) => {
        const chosen = proposals.filter((one) => !left.has(one.platform_id))
        const bytes = chosen.reduce((sum, one) => sum + one.media_size, 0)
        return (
          <div class="panel">
            <h3>{t('storage.free')}</h3>
            <p class="hint">{proposals.length === 0 ? t('storage.free.none') : t('storage.free.lead')}</p>
            <ul class="proposals">
              {proposals.map((one) => (
                <li key={one.platform_id}>
                  <input
                    type="checkbox"
                    aria-label={t('storage.choose', { name: shownTitle(one.platform_id, one.title) })}
                    checked={!left.has(one.platform_id)}
                    onChange={() => toggle(one.platform_id)}
                  />
                  <div class="row-words">
                    <a href={under(`/video/${one.platform_id}/`)} dir="auto">
                      {shownTitle(one.platform_id, one.title)}
                    </a>
                    <p class="meta">
                      {[one.channel_name, t('storage.watched', { age: toAge(one.watched) })].join(' · ')}
                    </p>
                  </div>
                  <span class="bar-value">{toBytes(one.media_size)}</span>
                </li>
              ))}
            </ul>
            {chosen.length > 0 && (
              <Button kind="danger" icon={Trash} onClick={() => drop(chosen)}>
                {t('storage.free.chosen', { count: chosen.length, size: toBytes(bytes) })}
              </Button>
            )}
            <p class="hint">
              <a href={under('/settings/bin/')}>{t('storage.free.bin')}</a>
            </p>
          </div>
        )
      }}
    </Loaded>
  )
}

/** The bin: recently removed videos, channels and playlists, to restore or delete for good. */
import { RotateCcw, Trash } from 'lucide'
import { useState } from 'preact/hooks'
import { Button, IconButton } from '../../parts/button.tsx'
import { confirm } from '../../parts/dialog.tsx'
import { Field } from '../../parts/field.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { say } from '../../parts/toast.ts'
import { get, post } from '../../server/api.ts'
import type { BinEntry, Page } from '../../server/records.ts'
import { forget, useLoad } from '../../stores/load.ts'
import { toAge, toBytes } from '../../texts/format.ts'
import { t } from '../../texts/lookup.ts'
import { Group } from './option.tsx'
import { Preference } from './preference-options.tsx'
import { usePreferences } from './preferences.ts'

export function BinSection() {
  const [words, setWords] = useState('')
  const [page, setPage] = useState(1)
  const list = useLoad<Page<BinEntry>>(`settings/bin ${page} ${words}`, (signal) =>
    get('/api/bin/', { q: words, page }, signal),
  )
  const act = async (what: 'restore' | 'empty', chosen: { entries: number[] } | { all: true }, told: string) => {
    await post(`/api/bin/${what}/`, chosen)
    say(told)
    forget()
    await list.reload()
  }
  const emptyAll = async () => {
    const isSure = await confirm({
      title: t('settings.bin.empty.title'),
      text: <p>{t('settings.bin.empty.text')}</p>,
      action: t('settings.bin.empty'),
    })
    if (isSure) await act('empty', { all: true }, t('settings.bin.emptied'))
  }
  return (
    <>
      <p class="settings-lead">{t('settings.bin.lead')}</p>
      <Days />
      <Group title={t('settings.bin.list')}>
        <div class="option-line">
          <Field
            label={t('settings.bin.search')}
            value={words}
            onInput={(text) => {
              setWords(text)
              setPage(1)
            }}
          />
        </div>
        <Loaded from={list}>
          {({ data, paginate }) => (
            <>
              {data.length === 0 && <p class="option-line">{t('settings.bin.none')}</p>}
              <ul class="settings-rows">
                {data.map((entry) => (
                  <Row key={entry.id} entry={entry} act={act} />
                ))}
              </ul>
              <div class="option-foot">
                {page > 1 && <Button onClick={() => setPage(page - 1)}>{t('settings.bin.newer')}</Button>}
                {paginate.last_page > page && (
                  <Button onClick={() => setPage(page + 1)}>{t('settings.bin.older')}</Button>
                )}
                {data.length > 0 && (
                  <Button icon={Trash} onClick={() => emptyAll()}>
                    {t('settings.bin.empty')}
                  </Button>
                )}
              </div>
            </>
          )}
        </Loaded>
      </Group>
    </>
  )
}

interface RowProps {
  entry: BinEntry
  act: (what: 'restore' | 'empty', chosen: { entries: number[] }, told: string) => Promise<void>
}

function Row({ entry, act }: RowProps) {
  const { id, title, channel_name: channel, media_size: bytes, removed, until } = entry
  const drop = async () => {
    const isSure = await confirm({
      title: t('settings.bin.drop.title', { name: title }),
      text: <p>{t('settings.bin.empty.text')}</p>,
      action: t('settings.bin.drop'),
    })
    if (isSure) await act('empty', { entries: [id] }, t('settings.bin.emptied'))
  }
  return (
    <li>
      <div class="row-words">
        <strong dir="auto">{title}</strong>
        <p class="meta">
          {[
            channel,
            toBytes(bytes),
            t('settings.bin.removed', { age: toAge(removed) }),
            until === null ? t('settings.bin.gone') : t('settings.bin.until', { age: toAge(until) }),
          ]
            .filter((one) => one !== '')
            .join(' · ')}
        </p>
      </div>
      <IconButton
        icon={RotateCcw}
        label={t('settings.bin.restore', { name: title })}
        onClick={() => act('restore', { entries: [id] }, t('bin.restored'))}
      />
      <IconButton icon={Trash} label={t('settings.bin.dropOf', { name: title })} onClick={() => drop()} />
    </li>
  )
}

function Days() {
  const preferences = usePreferences()
  return (
    <Loaded from={preferences} height="120px">
      {() => (
        <Group title={t('settings.bin.keep')}>
          <Preference preferences={preferences} name="bin.days" />
        </Group>
      )}
    </Loaded>
  )
}

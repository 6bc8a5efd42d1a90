/** Backups: zip files of all documents; created, downloaded, uploaded, and restored after a preview. */

import { Archive, Download, RotateCcw, Trash } from 'lucide'
import { useState } from 'preact/hooks'
import { Button, IconButton } from '../../parts/button.tsx'
import { confirm, Dialog, useWhileOpen } from '../../parts/dialog.tsx'
import { FileButton } from '../../parts/file-button.tsx'
import { useForm } from '../../parts/form.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { say } from '../../parts/toast.ts'
import { ask, Failure, get, post, remove } from '../../server/api.ts'
import { under } from '../../server/base.ts'
import type { Backup, RestorePreview } from '../../server/records.ts'
import { useJobs } from '../../stores/jobs.ts'
import { forget, useLoad } from '../../stores/load.ts'
import { toBytes, toDay, toNumber } from '../../texts/format.ts'
import { t } from '../../texts/lookup.ts'
import { Group } from './option.tsx'

/** The server's pattern for names. */
const NAME = /^[a-z][a-z0-9]*_backup-\d{8}(-[a-z]+)?\.zip$/
const REASONS = ['auto', 'manual', 'update', 'lost'] as const
const COLLECTIONS = ['channel', 'video', 'playlist', 'download', 'subtitle', 'comment'] as const

const dayOf = ({ timestamp }: Backup): string => toDay(timestamp.replace(/^(\d{4})(\d\d)(\d\d)$/, '$1-$2-$3'))

/** Whether documents were missing when the newest backup was made. */
function isInDoubt(backups: readonly Backup[]): boolean {
  const newest = (isLost: boolean): string =>
    backups
      .filter(({ reason }) => (reason === 'lost') === isLost)
      .map(({ timestamp }) => timestamp)
      .sort()
      .at(-1) ?? ''
  return newest(true) > newest(false)
}

export function BackupsGroup() {
  const backups = useLoad<Backup[]>('settings/backups', (signal) => get('/api/backup/', {}, signal))
  const [restoring, setRestoring] = useState<Backup>()
  useJobs(['run_backup'], () => void backups.reload())
  const make = async () => {
    await post('/api/backup/')
    say(t('settings.backups.making'))
  }
  const settle = async () => {
    const isSure = await confirm({
      title: t('settings.backups.lost.title'),
      text: <p>{t('settings.backups.lost.text')}</p>,
      action: t('settings.backups.lost.action'),
    })
    if (!isSure) return
    await post('/api/backup/', { is_right: true })
    say(t('settings.backups.making'))
  }
  const drop = async ({ filename }: Backup) => {
    const wanted = await confirm({
      title: t('settings.backups.delete.title'),
      text: <p>{t('settings.backups.delete.text', { name: filename })}</p>,
      action: t('action.delete'),
      isDangerous: true,
      typed: { label: t('settings.backups.delete.type', { name: filename }), value: filename },
    })
    if (!wanted) return
    await remove(`/api/backup/${filename}/`)
    await backups.reload()
    say(t('settings.backups.deleted'))
  }
  return (
    <Group title={t('settings.backups')} hint={t('settings.backups.lead')}>
      <Loaded from={backups} height="120px">
        {(all) => (
          <>
            {all.length === 0 && <p class="option-line">{t('settings.backups.none')}</p>}
            {isInDoubt(all) && (
              <div class="notice">
                <p>{t('settings.backups.lost')}</p>
                <Button onClick={() => settle()}>{t('settings.backups.lost.action')}</Button>
              </div>
            )}
            <ul class="settings-rows">
              {all.map((one) => (
                <li key={one.filename}>
                  <div class="row-words">
                    <strong>{dayOf(one)}</strong>
                    <p class="meta">
                      {toBytes(one.file_size)}
                      {REASONS.includes(one.reason as 'auto') &&
                        ` · ${t(`settings.backups.reason.${one.reason as 'auto'}`)}`}{' '}
                      · {one.filename}
                    </p>
                  </div>
                  <a
                    class="icon-button"
                    href={under(`/api/backup/${one.filename}/download/`)}
                    download={one.filename}
                    aria-label={t('settings.backups.downloadOf', { name: one.filename })}
                    title={t('settings.backups.download')}
                  >
                    <Icon node={Download} />
                  </a>
                  <IconButton
                    icon={RotateCcw}
                    label={t('settings.backups.restoreOf', { name: one.filename })}
                    onClick={() => setRestoring(one)}
                  />
                  <IconButton
                    icon={Trash}
                    label={t('settings.backups.deleteOf', { name: one.filename })}
                    onClick={() => drop(one)}
                  />
                </li>
              ))}
            </ul>
            <div class="option-foot">
              <Button icon={Archive} onClick={() => make()}>
                {t('settings.backups.make')}
              </Button>
              <UploadButton onDone={() => void backups.reload()} />
            </div>
          </>
        )}
      </Loaded>
      {restoring && <Restore backup={restoring} onClose={() => setRestoring(undefined)} />}
    </Group>
  )
}

function UploadButton({ onDone }: { onDone: () => void }) {
  const form = useForm()
  const upload = async (file: File) => {
    if (!NAME.test(file.name)) throw new Failure(400, { message: t('settings.backups.name', { name: file.name }) })
    await ask('PUT', `/api/backup/${file.name}/`, { upload: { content: file, type: 'application/zip' } })
    say(t('settings.backups.uploaded', { name: file.name }))
    onDone()
  }
  return (
    <>
      <FileButton
        label={t('settings.backups.upload')}
        busyLabel={t('settings.backups.uploading')}
        accept=".zip,application/zip"
        onFile={(file) => form.run(() => upload(file))}
      />
      {form.refusal}
    </>
  )
}

function Restore({ backup, onClose }: { backup: Backup; onClose: () => void }) {
  const { filename } = backup
  const close = useWhileOpen(onClose)
  const preview = useLoad<RestorePreview>(`settings/preview/${filename}`, (signal) =>
    get(`/api/backup/${filename}/preview/`, {}, signal),
  )
  const restore = async () => {
    await post(`/api/backup/${filename}/`)
    forget()
    say(t('settings.restore.begun'))
    close()
  }
  return (
    <Dialog title={t('settings.backups.restore.title', { day: dayOf(backup) })} onClose={onClose} isWide>
      <div class="prose">
        <p>{t('settings.backups.restore.goes')}</p>
        <p>{t('settings.restore.stays')}</p>
      </div>
      <Loaded from={preview} height="260px">
        {(counts) => <Changes counts={counts} />}
      </Loaded>
      <footer>
        <Button onClick={onClose}>{t('action.cancel')}</Button>
        <Button kind="danger" disabled={preview.now.value.state !== 'ready'} onClick={restore}>
          {t('settings.backups.restore')}
        </Button>
      </footer>
    </Dialog>
  )
}

export function Changes({ counts }: { counts: RestorePreview }) {
  const shown = COLLECTIONS.filter((name) => counts[name])
  const sum = (key: 'added' | 'removed' | 'changed') => shown.reduce((all, name) => all + counts[name]![key], 0)
  if (sum('added') + sum('removed') + sum('changed') === 0) return <p class="notice">{t('settings.backups.same')}</p>
  return (
    <div class="changes" role="region" aria-label={t('settings.backups.changes')} tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">
              <span class="unseen">{t('settings.backups.what')}</span>
            </th>
            {(['now', 'backup', 'added', 'changed', 'removed'] as const).map((column) => (
              <th scope="col" key={column}>
                {t(`settings.backups.column.${column}`)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((name) => (
            <tr key={name}>
              <th scope="row">{t(`settings.backups.of.${name}`)}</th>
              <td>{toNumber(counts[name]!.now)}</td>
              <td>{toNumber(counts[name]!.backup)}</td>
              {(['added', 'changed', 'removed'] as const).map((key) => (
                <td key={key} class={counts[name]![key] > 0 ? `change ${key}` : ''}>
                  {counts[name]![key] > 0 ? toNumber(counts[name]![key]) : '–'}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** Safety: whole backups, and the last rehearsal of a restore. */
import { Archive, Download, RotateCcw, ShieldCheck, Trash } from 'lucide'
import { useState } from 'preact/hooks'
import { Button, IconButton } from '../../parts/button.tsx'
import { confirm, Dialog, useWhileOpen } from '../../parts/dialog.tsx'
import { FileButton } from '../../parts/file-button.tsx'
import { Form, FormButtons, useForm } from '../../parts/form.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { say } from '../../parts/toast.ts'
import { get, post, remove } from '../../server/api.ts'
import { under } from '../../server/base.ts'
import type { WholeBackup, WholeBackups, WholePreview } from '../../server/records.ts'
import { taskOver, useJobs } from '../../stores/jobs.ts'
import { useLoad } from '../../stores/load.ts'
import { toAge, toBytes, toMoment, toNumber, toWeekday } from '../../texts/format.ts'
import { inWords, t } from '../../texts/lookup.ts'
import { Changes } from './backups.tsx'
import { Group } from './option.tsx'
import { PreferenceGroup } from './preference-options.tsx'
import { usePreferences } from './preferences.ts'
import { Passphrase, type Restoring, UploadWhole } from './upload-whole.tsx'

export const useWhole = () => useLoad<WholeBackups>('settings/whole', (signal) => get('/api/whole/', {}, signal))

export function WholeBackupsGroup() {
  const preferences = usePreferences()
  const whole = useWhole()
  const [restoring, setRestoring] = useState<Restoring>()
  const [file, setFile] = useState<File>()
  useJobs(['back_up_all', 'rehearse_restore'], () => void whole.reload())
  const begin = async (task: 'back_up_all' | 'rehearse_restore') => {
    await post(`/api/task-name/${task}/`)
    say(t('settings.whole.begun'))
    await whole.reload()
  }
  const drop = async ({ filename }: WholeBackup) => {
    const isSure = await confirm({
      title: t('settings.backups.delete.title'),
      text: <p>{t('settings.backups.delete.text', { name: filename })}</p>,
      action: t('action.delete'),
      isDangerous: true,
    })
    if (!isSure) return
    await remove(`/api/whole/${filename}/`)
    await whole.reload()
    say(t('settings.backups.deleted'))
  }
  return (
    <Group title={t('settings.whole')} hint={t('settings.whole.hint')}>
      <Loaded from={whole} height="120px">
        {(now) => (
          <>
            {now.waiting_since !== null && <Waiting since={now.waiting_since} reload={whole.reload} />}
            <p class="option-line">{backupWords(now)}</p>
            <p class="option-line">{rehearsalWords(now)}</p>
            <ul class="settings-rows">
              {now.backups.map((one) => (
                <Row
                  key={one.filename}
                  backup={one}
                  onRestore={() => setRestoring({ backup: one })}
                  onDelete={() => drop(one)}
                />
              ))}
            </ul>
            <div class="option-foot">
              <Button icon={Archive} isBusy={now.is_backing_up} onClick={() => begin('back_up_all')}>
                {t('settings.whole.now')}
              </Button>
              {now.backups.length > 0 && (
                <Button icon={ShieldCheck} isBusy={now.is_rehearsing} onClick={() => begin('rehearse_restore')}>
                  {t('settings.whole.rehearse')}
                </Button>
              )}
              <FileButton
                label={t('settings.whole.upload')}
                busyLabel={t('settings.whole.upload')}
                accept=".tar,.age"
                onFile={async (chosen) => setFile(chosen)}
              />
            </div>
            <Aside now={now} reload={whole.reload} />
          </>
        )}
      </Loaded>
      <Loaded from={preferences} height="120px">
        {() => <PreferenceGroup preferences={preferences} group="whole" />}
      </Loaded>
      {file && (
        <UploadWhole
          file={file}
          onClose={() => setFile(undefined)}
          onDone={(uploaded) => {
            setFile(undefined)
            setRestoring(uploaded)
            void whole.reload()
          }}
        />
      )}
      {restoring && (
        <Restore {...restoring} onClose={() => setRestoring(undefined)} onOver={() => void whole.reload()} />
      )}
    </Group>
  )
}

function backupWords({ backup, backups, said }: WholeBackups): string {
  const [newest] = backups
  return [
    newest
      ? t('settings.whole.last', { age: toAge(newest.made), bytes: toBytes(newest.bytes) })
      : t('settings.whole.none'),
    backup.failure !== '' &&
      t('settings.whole.failed', { age: toAge(backup.failing_since ?? 0), reason: inWords(backup.failure, said) }),
  ]
    .filter((one) => typeof one === 'string')
    .join(' ')
}

/** Sentences about the result of the last rehearsal, or why it has failed. */
export function rehearsalWords({ rehearsal, said }: Pick<WholeBackups, 'rehearsal' | 'said'>): string {
  const { succeeded, videos, seconds, failure, failing_since: since } = rehearsal
  return [
    failure !== '' && t('settings.whole.unproven', { age: toAge(since ?? 0), reason: inWords(failure, said) }),
    succeeded === null
      ? t('settings.whole.unrehearsed')
      : t('settings.whole.proven', {
          day: toWeekday(succeeded),
          count: videos,
          all: toNumber(videos),
          seconds: toNumber(seconds),
        }),
  ]
    .filter((one) => typeof one === 'string')
    .join(' ')
}

function Row({
  backup: { filename, made, bytes, is_encrypted: isEncrypted },
  onRestore,
  onDelete,
}: {
  backup: WholeBackup
  onRestore: () => void
  onDelete: () => void
}) {
  return (
    <li>
      <div class="row-words">
        <strong>{toMoment(made)}</strong>
        <p class="meta">
          {toBytes(bytes)} · {t(isEncrypted ? 'settings.whole.encrypted' : 'settings.whole.plain')} · {filename}
        </p>
      </div>
      <a
        class="icon-button"
        href={under(`/api/whole/${filename}/download/`)}
        download={filename}
        aria-label={t('settings.backups.downloadOf', { name: filename })}
        title={t('settings.backups.download')}
      >
        <Icon node={Download} />
      </a>
      <IconButton icon={RotateCcw} label={t('settings.backups.restoreOf', { name: filename })} onClick={onRestore} />
      <IconButton icon={Trash} label={t('settings.backups.deleteOf', { name: filename })} onClick={onDelete} />
    </li>
  )
}

function Waiting({ since, reload }: { since: number; reload: () => Promise<void> }) {
  const discard = async () => {
    await remove('/api/whole/restore/')
    await reload()
  }
  return (
    <div class="notice">
      <p>{t('settings.whole.waiting', { age: toAge(since) })}</p>
      <Button onClick={() => discard()}>{t('settings.whole.discard')}</Button>
    </div>
  )
}

/** Data that restores have replaced. */
function Aside({ now: { aside, aside_days: days }, reload }: { now: WholeBackups; reload: () => Promise<void> }) {
  const drop = async (name: string) => {
    const isSure = await confirm({
      title: t('settings.whole.aside.delete'),
      text: <p>{t('settings.whole.aside.text', { name })}</p>,
      action: t('action.delete'),
      isDangerous: true,
    })
    if (!isSure) return
    await remove(`/api/whole/aside/${name}/`)
    await reload()
  }
  if (aside.length === 0) return null
  return (
    <>
      <p class="option-line">{t('settings.whole.aside', { days: toNumber(days) })}</p>
      <ul class="settings-rows">
        {aside.map(({ name, bytes, at }) => (
          <li key={name}>
            <div class="row-words">
              <strong>{toMoment(at)}</strong>
              <p class="meta">
                {toBytes(bytes)} · {name}
              </p>
            </div>
            <IconButton icon={Trash} label={t('settings.backups.deleteOf', { name })} onClick={() => drop(name)} />
          </li>
        ))}
      </ul>
    </>
  )
}

/** Asks for the passphrase if there is one, shows a preview, then restores. */
function Restore({ backup, onClose, onOver, ...given }: Restoring & { onClose: () => void; onOver: () => void }) {
  const { filename, made, is_encrypted: isEncrypted } = backup
  const form = useForm<'passphrase'>({ passphrase: { showsRest: true } })
  const [passphrase, setPassphrase] = useState(given.passphrase ?? '')
  const [preview, setPreview] = useState(given.preview)
  const body = isEncrypted ? { passphrase } : {}
  const close = useWhileOpen(onClose)
  const submit = async () => {
    if (!preview) return setPreview(await post<WholePreview>(`/api/whole/${filename}/preview/`, body))
    const { task_id: id } = await post<{ task_id: string }>(`/api/whole/${filename}/`, body)
    say(t('settings.whole.restore.begun'))
    close()
    void taskOver(id).then(onOver, () => undefined) // a notification gives the reason of a failure
  }
  return (
    <Dialog title={t('settings.backups.restore.title', { day: toMoment(made) })} onClose={onClose} isWide>
      <Form form={form} onSubmit={submit}>
        <div class="prose">
          <p>{t('settings.whole.restore.goes')}</p>
        </div>
        {preview && <Coming preview={preview} />}
        <Passphrase
          isAsked={isEncrypted && !preview}
          value={passphrase}
          error={form.errors.passphrase}
          onInput={setPassphrase}
        />
        <FormButtons
          action={t(preview ? 'settings.backups.restore' : 'settings.whole.restore.look')}
          onCancel={onClose}
        />
      </Form>
    </Dialog>
  )
}

function Coming({ preview }: { preview: WholePreview }) {
  const { is_own: isOwn, has_secrets: hasSecrets, version, pictures, documents, accounts, missing } = preview
  const lines = [
    t('settings.whole.restore.made', { version, pictures: toNumber(pictures) }),
    !isOwn && t('settings.whole.restore.other'),
    !hasSecrets && t('settings.whole.restore.secrets'),
    ...missing.map(({ plugin, documents: count }) =>
      count > 0
        ? t('settings.whole.restore.skipped', { plugin, count })
        : t('settings.whole.restore.missing', { plugin }),
    ),
    ...(['added', 'replaced', 'removed'] as const).map(
      (kind) => accounts[kind].length > 0 && t(`settings.whole.restore.${kind}`, { names: accounts[kind].join(', ') }),
    ),
  ]
  return (
    <>
      <ul class="prose">
        {lines
          .filter((line) => typeof line === 'string')
          .map((line) => (
            <li key={line}>{line}</li>
          ))}
      </ul>
      {Object.values(documents).some(({ added, changed, removed }) => added + changed + removed > 0) && (
        <Changes counts={documents} />
      )}
    </>
  )
}

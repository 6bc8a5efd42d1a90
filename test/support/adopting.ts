/** Runs imports in place to their end, for tests: a scan of a location, and the commands that follow. */
import assert from 'node:assert/strict'
import type { PlacesApp } from './places.ts'

export async function succeeded(app: PlacesApp, taskId: string): Promise<void> {
  const { state, result } = await app.app.jobs.ended(taskId)
  assert.equal(state, 'SUCCESS', result ?? '')
}

/** @returns the id of the plan */
export async function scanned(app: PlacesApp, place: number, more: object = {}): Promise<number> {
  const { status, body } = await app.as('admin').post('/api/adoption/', { place, ...more })
  assert.equal(status, 200, JSON.stringify(body))
  await succeeded(app, body.task_id)
  return body.id
}

/** Includes the jobs that follow: pictures, subtitles and comments. */
export async function commanded(app: PlacesApp, id: number, command: object): Promise<void> {
  const { status, body } = await app.as('admin').post(`/api/adoption/${id}/`, command)
  assert.equal(status, 200, JSON.stringify(body))
  await succeeded(app, body.task_id)
  const completing = app.app.jobs.active('complete_videos')
  if (completing) await succeeded(app, completing.id)
}

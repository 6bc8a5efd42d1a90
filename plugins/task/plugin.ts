/** Routes of tasks and schedules: running and past jobs, schedules, and outgoing messages (contract 6.11, B). */
import { definePlugin, type Job } from 'archivolt'
import { toTaskResult } from './record.ts'
import {
  addNotification,
  listNotifications,
  listSchedules,
  removeNotification,
  removeSchedule,
  setSchedule,
} from './schedule-routes.ts'
import {
  commandTask,
  listTaskKinds,
  listTasks,
  listTasksOfName,
  showTask,
  showTaskLog,
  startTask,
} from './task-routes.ts'

export default definePlugin({
  name: 'task',
  routes: [
    listTaskKinds,
    listTasks,
    listTasksOfName,
    startTask,
    showTask,
    commandTask,
    showTaskLog,
    listSchedules,
    setSchedule,
    removeSchedule,
    listNotifications,
    addNotification,
    removeNotification,
  ],
  services: (app) => ({ tasks: { record: (job) => toTaskResult(job, app.registry.tasks) } }),
})

declare module 'archivolt' {
  interface Services {
    task: {
      tasks: {
        /** A job in the form of contract 5.10. */
        record(job: Job): object
      }
    }
  }
}

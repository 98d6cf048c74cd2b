/** What the bare workflows ask for: nothing, or one request. @module */
export const bareActivities = {
  answer: async (text: string): Promise<string> => text,
  get: async (url: string): Promise<number> => {
    const answer = await fetch(url);
    await answer.arrayBuffer();
    return answer.status;
  },
};

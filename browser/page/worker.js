// Runs the planner, away from the page. A message {name, text, files} is a plan file and those beside it ({name: bytes});
// answers are {line} for each line that the planner tells and {status, said, files} when it has ended.
'use strict';

/* global LonghaulPlanner */

onmessage = async ({data}) => {
  const said = [];
  try {
    // A program of its own each time: what the last one left in memory is gone.
    const planner = await LonghaulPlanner({
      print: line => postMessage({line: JSON.parse(line)}),
      printErr: line => said.push(line),
    });
    if (data.lists) {
      postMessage({status: planner.callMain(['--lists']), said});
      return;
    }
    const {FS} = planner;
    FS.mkdir('/plan');
    for (const [name, bytes] of Object.entries(data.files)) {
      const file = `/plan/${name}`;
      FS.mkdirTree(file.slice(0, file.lastIndexOf('/')));
      FS.writeFile(file, bytes);
    }
    FS.writeFile(`/plan/${data.name}`, data.text);
    const status = planner.callMain([`/plan/${data.name}`, '/plan/answer']);
    const files = {};
    if (status === 0)
      for (const name of FS.readdir('/plan/answer'))
        if (!name.startsWith('.')) files[name] = FS.readFile(`/plan/answer/${name}`, {encoding: 'utf8'});
    postMessage({status, said: said.map(line => line.replaceAll('/plan/', '')), files});
  } catch (error) {
    postMessage({status: 1, said: [...said, `error: the planner stopped (${error.message || error}); fewer nodes or candidates need less memory`], files: {}});
  }
};
